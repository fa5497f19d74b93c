import type { RetryRunBody, Run } from "@beckon/client";
import { invokeBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { useForm } from "react-hook-form";
import { failureOf, messageOf, wording } from "../../data/index.ts";
import { withLineFeeds } from "../../format/index.ts";
import { Field, FormDialog, FormError, TextArea } from "../../ui/index.ts";

interface RetryDialogProps {
  readonly run: Run;
  /**
   * Starts the new run.
   * @throws BeckonError
   */
  readonly retry: (body: RetryRunBody) => Promise<Run>;
  /**
   * Called before the run starts. The function that it returns opens the page of the new run. It is
   * called only if the dialog is still open when the run starts.
   */
  readonly openFromHere: () => (started: Run) => void;
  readonly close: () => void;
}

/**
 * The dialog in which a person changes the input of a run and starts a new run with it. The new run
 * uses the agent's current version or, if the earlier run used a draft, the same draft.
 */
export function RetryDialog({ run, retry, openFromHere, close }: RetryDialogProps) {
  const filledIn = withLineFeeds(run.input);
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(invokeBody, { error: wording }),
    mode: "onTouched",
    defaultValues: { input: filledIn },
  });
  // While the page of the new run opens, this dialog is still open. It must not ask whether to
  // discard the changed input, because the new run has this input.
  const isStarted = useRef(false);
  const sending = useMutation({
    // An input that was not edited is not sent. The new run then also has its original line breaks.
    mutationFn: ({ input }: { input: string }) =>
      retry({ version: "current", ...(input === filledIn ? {} : { input }) }),
    onSuccess: () => {
      isStarted.current = true;
    },
  });
  // `isDirty` must be read during rendering, because React Hook Form only tracks the values that
  // are read there.
  const { isDirty } = formState;
  return (
    <FormDialog
      isDirty={() => isDirty && !isStarted.current}
      close={close}
      size="large"
      title="Retry with another input"
      description={
        run.source === "draft"
          ? "A new run starts with the same draft of the agent. This run stays as it is."
          : "A new run starts with the agent's current version. This run stays as it is."
      }
      onSubmit={handleSubmit((values) => sending.mutate(values, { onSuccess: openFromHere() }))}
      submit={{
        label: "Start run",
        pending: sending.isPending || sending.isSuccess,
        pendingText: "Starting…",
      }}
    >
      <Field
        label="Input"
        hint="The agent gets exactly this text."
        error={messageOf(formState.errors.input)}
      >
        <TextArea {...register("input")} rows={8} mono autoFocus />
      </Field>
      <FormError
        error={
          sending.isError
            ? failureOf(
                sending.error,
                "the run was retried",
                "Press Start run again: the same input starts one run only.",
              )
            : null
        }
      />
    </FormDialog>
  );
}
