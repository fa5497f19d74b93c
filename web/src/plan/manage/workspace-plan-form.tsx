import { BeckonError, type WorkspacePlan } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  announceChanges,
  announceIfOutdated,
  type CurrentWorkspace,
  useList,
  useWorkspace,
} from "../../data/index.ts";
import {
  Checkbox,
  Field,
  FormDialog,
  FormError,
  RadioCards,
  Select,
  useToast,
} from "../../ui/index.ts";
import { planKey, plansKey, plansQuery } from "../queries.ts";
import { isStillPlanned, type PlanChoice, planChange } from "./plan-change.ts";

interface WorkspacePlanFormProps {
  /** The workspace whose plan is set, with its current plan. */
  readonly of: WorkspacePlan;
  readonly close: () => void;
}

const times = [
  { value: "now", label: "Now", hint: "What was used this month counts." },
  { value: "period_end", label: "When this month of the plan ends" },
] as const;

const days = Array.from({ length: 31 }, (_, index) => ({
  value: String(index + 1),
  label: `Day ${index + 1}`,
}));

const changedMeanwhile =
  "Nothing was saved: the planned change took effect or was replaced meanwhile. Check the plan, then save again.";

/** Returns the current plan of a workspace; undefined if the workspace was deleted. */
async function findPlan(
  plans: Pick<CurrentWorkspace["client"]["workspacePlans"], "list">,
  workspaceId: string,
): Promise<WorkspacePlan | undefined> {
  for await (const plan of plans.list({ limit: 200 }))
    if (plan.workspace_id === workspaceId) return plan;
  return undefined;
}

/** The form that sets the plan of a workspace. */
export function WorkspacePlanForm({ of, close }: WorkspacePlanFormProps) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const plans = useList(plansQuery(workspace));
  // `of` changes if the list is refetched while the form is open. So the form keeps the values that
  // it began with: only what differs from them was changed by the person.
  const [initial] = useState(of);
  const [plan, setPlan] = useState(initial.plan);
  const [time, setTime] = useState<PlanChoice["takesEffect"]>("now");
  const [day, setDay] = useState(String(initial.anchor_day));
  const [isChecked, setChecked] = useState(false);
  const canCancel = isStillPlanned(initial, of);
  const isCancelled = isChecked && canCancel;
  // The workspace can have a planned change: another plan from the next month on. A checkbox to
  // cancel it is shown only while the plan is the same. Saving another one replaces it anyway.
  const isKept = plan === initial.plan;
  const body = planChange(initial, {
    plan,
    takesEffect: time,
    anchorDay: Number(day),
    isCancelled,
  });
  const isDirty = Object.keys(body).length > 0;
  const save = useMutation({
    mutationFn: async () => {
      const { workspacePlans } = workspace.client;
      // `of` can be outdated: no event says that another person has changed the plan.
      const now = isCancelled ? await findPlan(workspacePlans, of.workspace_id) : undefined;
      if (now !== undefined && !isStillPlanned(initial, now))
        throw new BeckonError({ code: "conflict", message: changedMeanwhile });
      return workspacePlans.update(of.workspace_id, body);
    },
    onSuccess: () => {
      toast({ tone: "success", title: `Changed the plan of ${of.workspace_name}` });
      void announceChanges(queryClient, plansKey(workspace.id), planKey(of.workspace_id));
    },
    onError: (thrown) =>
      void announceIfOutdated(
        queryClient,
        thrown,
        plansKey(workspace.id),
        planKey(of.workspace_id),
      ),
  });
  // The plan that the form began with is always an option, even if it is no longer in the
  // operator's file or in the database.
  const names = new Set([initial.plan, ...plans.rows.map(({ name }) => name)]);
  return (
    <FormDialog
      isDirty={() => isDirty}
      isSaved={save.isSuccess}
      close={close}
      size="small"
      title={`Plan of ${of.workspace_name}`}
      onSubmit={() => {
        if (isDirty) save.mutate();
      }}
      submit={{
        label: "Change plan",
        pending: save.isPending,
        pendingText: "Changing…",
        disabledReason: isDirty ? undefined : "Nothing has been changed.",
      }}
    >
      <Field label="Plan">
        <Select
          value={plan}
          onChange={({ target }) => setPlan(target.value)}
          options={[...names].map((name) => ({ value: name, label: name }))}
        />
      </Field>
      {isKept ? null : (
        <RadioCards label="Takes effect" options={times} value={time} onChange={setTime} />
      )}
      {isKept && initial.next_plan !== null ? (
        <Checkbox
          label={`Cancel the planned change to ${initial.next_plan.plan}`}
          checked={isCancelled}
          onChange={({ target }) => setChecked(target.checked)}
          disabled={!canCancel}
          hint={canCancel ? undefined : "The plan has changed meanwhile."}
        />
      ) : null}
      <Field
        label="Months begin on"
        hint="From the next month on, or at once if the present plan limits nothing. In shorter months it is the last day."
      >
        <Select value={day} onChange={({ target }) => setDay(target.value)} options={days} />
      </Field>
      <FormError error={save.error} />
    </FormDialog>
  );
}
