import { createWorkspaceBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { Controller, useForm } from "react-hook-form";
import {
  announceChanges,
  announceIfOutdated,
  clientOf,
  failureOf,
  meQuery,
  messageOf,
  useIdempotencyKey,
  wording,
} from "../data/index.ts";
import { Field, FormDialog, FormError, TextInput, useNavigateFrom, useToast } from "../ui/index.ts";
import { TimeZoneField } from "./time-zone-field.tsx";
import { browserTimeZone } from "./time-zones.ts";

interface NewWorkspaceDialogProps {
  /** Id of the workspace in which the person has the permission to create workspaces. */
  readonly from: string;
  readonly close: () => void;
}

const again = "Press Create workspace again without changes: it is created once only.";

/** The dialog that creates a workspace and opens it. The person becomes its owner. */
export function NewWorkspaceDialog({ from, close }: NewWorkspaceDialogProps) {
  const queryClient = useQueryClient();
  const navigateFrom = useNavigateFrom();
  const toast = useToast();
  const { keyOf } = useIdempotencyKey();
  const isCreated = useRef(false);
  const { control, register, handleSubmit, formState } = useForm({
    resolver: zodResolver(createWorkspaceBody, { error: wording }),
    mode: "onTouched",
    defaultValues: { name: "", time_zone: browserTimeZone() },
  });
  // These must be read during rendering, because React Hook Form only tracks the values that are
  // read there.
  const { errors, isDirty } = formState;
  const create = useMutation({
    mutationFn: (body: { name: string; time_zone: string }) =>
      clientOf(from).workspaces.create(body, { idempotencyKey: keyOf(body) }),
    onSuccess: ({ name }) => {
      isCreated.current = true;
      toast({ tone: "success", title: `Created the workspace ${name}` });
      // The person's workspaces are refetched before the page is opened, because the route opens
      // only workspaces that are among them.
      return announceChanges(queryClient, meQuery.queryKey);
    },
    onError: (thrown) => void announceIfOutdated(queryClient, thrown, meQuery.queryKey),
  });
  const submit = (body: { name: string; time_zone: string }) => {
    const navigateHere = navigateFrom();
    create.mutate(body, {
      onSuccess: ({ id }) => void navigateHere({ href: `/w/${id}/settings` }),
    });
  };
  return (
    <FormDialog
      isDirty={() => isDirty && !isCreated.current}
      close={close}
      title="New workspace"
      description="It has its own agents, keys, members and runs. You are its owner."
      onSubmit={handleSubmit(submit)}
      submit={{
        label: "Create workspace",
        pending: create.isPending,
        pendingText: "Creating…",
      }}
    >
      <Field label="Name" error={messageOf(errors.name)}>
        <TextInput {...register("name")} autoComplete="off" autoFocus />
      </Field>
      <Controller
        control={control}
        name="time_zone"
        render={({ field }) => (
          <TimeZoneField
            {...field}
            value={field.value ?? "UTC"}
            error={messageOf(errors.time_zone)}
          />
        )}
      />
      <FormError
        error={
          create.isError ? failureOf(create.error, "the workspace was created", again) : undefined
        }
      />
    </FormDialog>
  );
}
