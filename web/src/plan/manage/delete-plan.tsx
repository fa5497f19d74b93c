import type { Plan } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { announceChanges, announceIfOutdated, useWorkspace } from "../../data/index.ts";
import { ConfirmDialog, useToast } from "../../ui/index.ts";
import { plansKey } from "../queries.ts";

interface DeletePlanProps {
  readonly plan: Plan;
  readonly close: () => void;
}

/**
 * The dialog that deletes a plan. The API rejects the deletion while workspaces are on the plan.
 */
export function DeletePlan({ plan: { id, name }, close }: DeletePlanProps) {
  const { id: workspaceId, client } = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={`Delete the plan ${name}?`}
      effect="Workspaces must be on other plans first. This cannot be undone."
      confirmLabel="Delete plan"
      pendingText="Deleting…"
      onConfirm={async () => {
        if (id === null) return;
        await client.plans.delete(id);
        toast({ tone: "success", title: `Deleted the plan ${name}` });
        void announceChanges(queryClient, plansKey(workspaceId));
      }}
      onError={(thrown) => void announceIfOutdated(queryClient, thrown, plansKey(workspaceId))}
    />
  );
}
