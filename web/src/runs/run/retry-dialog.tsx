import type { RetryRunBody, Run } from "@beckon/client";
import { invokeBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { Button, ConfirmDialog, Dialog, Field, FormError, TextArea } from "../../ui/index.ts";

interface RetryDialogProps {
  readonly run: Run;
  /** Starts the new run. @throws BeckonError */
  readonly retry: (body: RetryRunBody) => Promise<void>;
  readonly close: () => void;
}

/**
 * The dialog in which a person changes the input of a run, and retries it with the agent's current
 * version.
 */
export function RetryDialog({ run, retry, close }: RetryDialogProps) {
  const [isLeaving, setLeaving] = useState(false);
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(invokeBody),
    defaultValues: { input: run.input },
  });
  const sending = useMutation({
    mutationFn: ({ input }: { input: string }) => retry({ version: "current", input }),
  });
  // `isDirty` must be read during rendering, because React Hook Form only tracks the values that
  // are read there.
  const { isDirty } = formState;
  const leave = () => (isDirty ? setLeaving(true) : close());
  return (
    <>
      <Dialog
        open
        onOpenChange={leave}
        size="large"
        title="Retry with another input"
        description={
          run.source === "draft"
            ? "A new run starts with the same draft of the agent. This run stays as it is."
            : "A new run starts with the agent's current version. This run stays as it is."
        }
        footer={
          <>
            <Button onClick={leave}>Cancel</Button>
            <Button
              type="submit"
              form="retry-run"
              variant="primary"
              pending={sending.isPending}
              pendingText="Starting…"
            >
              Start run
            </Button>
          </>
        }
      >
        <form
          id="retry-run"
          noValidate
          onSubmit={handleSubmit((values) => sending.mutate(values, { onSuccess: close }))}
          className="flex flex-col gap-3"
        >
          <Field
            label="Input"
            hint="The agent gets exactly this text."
            error={formState.errors.input?.message}
          >
            <TextArea {...register("input")} rows={8} mono autoFocus />
          </Field>
          <FormError error={sending.error} />
        </form>
      </Dialog>
      <ConfirmDialog
        open={isLeaving}
        onOpenChange={setLeaving}
        title="Discard the changed input?"
        effect="The dialog closes and your changes are lost."
        confirmLabel="Discard changes"
        onConfirm={close}
      />
    </>
  );
}
