import { updateWorkspaceBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Controller, useForm } from "react-hook-form";
import {
  announceChanges,
  changesOf,
  fillIn,
  meQuery,
  messageOf,
  useWorkspace,
  wholeNumberIn,
  wording,
  workspaceQuery,
} from "../data/index.ts";
import {
  ConfirmDialog,
  CopyField,
  Field,
  FormError,
  LeaveGuard,
  SaveBar,
  TextInput,
} from "../ui/index.ts";
import { RunRetentionField } from "./run-retention-field.tsx";
import { TimeZoneField } from "./time-zone-field.tsx";

const labels = { name: "Name", time_zone: "Time zone", run_retention_days: "Keep runs for" };

/**
 * Returns the schema of the form.
 * @param maxDays days for which the operator keeps runs; null: for ever
 * @param savedDays the saved days. They are accepted even if the operator has lowered the maximum
 *   after they were saved.
 */
const fieldsWithin = (maxDays: number | null, savedDays: number | null) =>
  updateWorkspaceBody
    .required()
    .refine(
      ({ run_retention_days: days }) =>
        days === null || maxDays === null || days <= maxDays || days === savedDays,
      { path: ["run_retention_days"], message: `Use ${maxDays} or less.` },
    );

/** What the form contained when it was submitted. */
interface Submitted<Fields> {
  /**
   * The fields that were edited. They do not follow what somebody else saves later, so that the
   * confirmation of a question does not revert it.
   */
  readonly changes: Partial<Fields>;
  /** All fields, as they are to be saved. */
  readonly body: Fields;
  /** All fields, as they were typed. */
  readonly sent: Fields;
}

/** The form for the name of the workspace, its time zone, and how long it keeps its runs. */
export function WorkspaceForm() {
  const { id, name, storedTimeZone, runRetentionDays, maxRunRetentionDays, client, whyNot } =
    useWorkspace();
  const queryClient = useQueryClient();
  const saved = { name, time_zone: storedTimeZone, run_retention_days: runRetentionDays };
  const schema = useMemo(
    () => fieldsWithin(maxRunRetentionDays, runRetentionDays),
    [maxRunRetentionDays, runRetentionDays],
  );
  const form = useForm({
    resolver: zodResolver(schema, { error: wording }),
    mode: "onTouched",
    values: saved,
    // A value that another tab has saved replaces the one in this form, unless the person has
    // edited that field.
    resetOptions: { keepDirtyValues: true },
  });
  const { control, register, handleSubmit, getValues, formState } = form;
  const { errors, isDirty, dirtyFields } = formState;
  const save = useMutation({
    mutationFn: ({ changes }: Submitted<typeof saved>) => client.workspaces.update(id, changes),
    onSuccess: (workspace, { sent }) => {
      queryClient.setQueryData(workspaceQuery(id).queryKey, workspace);
      const { name, time_zone, run_retention_days } = workspace;
      fillIn(form, { name, time_zone, run_retention_days }, sent);
      return announceChanges(queryClient, workspaceQuery(id).queryKey, meQuery.queryKey);
    },
  });
  /** What is saved if the person agrees to the deletion of runs. */
  const [asked, setAsked] = useState<Submitted<typeof saved>>();
  const daysOf = ({ run_retention_days: days }: typeof saved) =>
    Math.min(days ?? Number.POSITIVE_INFINITY, maxRunRetentionDays ?? Number.POSITIVE_INFINITY);
  const reason = whyNot("workspaces:write");
  const isFixed = reason !== undefined;
  const state = save.isPending ? "saving" : isDirty ? "dirty" : save.isSuccess ? "saved" : "clean";
  return (
    <form
      noValidate
      onSubmit={handleSubmit((body) => {
        const next = { changes: changesOf(saved, body), body, sent: getValues() };
        if (daysOf(body) < daysOf(saved)) setAsked(next);
        else save.mutate(next);
      })}
    >
      <LeaveGuard isDirty={() => isDirty} />
      <div className="flex flex-col gap-4 p-4">
        <Field label={labels.name} error={messageOf(errors.name)}>
          <TextInput {...register("name")} disabled={isFixed} autoComplete="off" dir="auto" />
        </Field>
        <Controller
          control={control}
          name="time_zone"
          render={({ field }) => (
            <TimeZoneField
              {...field}
              value={field.value ?? storedTimeZone}
              error={messageOf(errors.time_zone)}
              note="Limits change at their next reset."
              disabled={isFixed}
            />
          )}
        />
        <RunRetentionField
          {...register("run_retention_days", { setValueAs: wholeNumberIn })}
          maxDays={maxRunRetentionDays}
          error={messageOf(errors.run_retention_days)}
          disabled={isFixed}
        />
        <CopyField label="Workspace id" value={id} />
        {isFixed ? <p className="text-dense text-ink-2">{reason}</p> : null}
        <FormError error={save.error} />
      </div>
      {isFixed ? null : (
        <SaveBar
          state={state}
          changed={Object.entries(labels).flatMap(([name, label]) =>
            name in dirtyFields ? [label] : [],
          )}
          onDiscard={() => fillIn(form, saved)}
        />
      )}
      {asked === undefined ? null : (
        <ConfirmDialog
          open
          onOpenChange={() => setAsked(undefined)}
          title={`Keep runs for ${daysOf(asked.body)} days?`}
          effect={`Runs that ended more than ${daysOf(asked.body)} days ago are deleted, with their events and files. This cannot be undone.`}
          confirmLabel="Delete older runs"
          onConfirm={() => save.mutate(asked)}
        />
      )}
    </form>
  );
}
