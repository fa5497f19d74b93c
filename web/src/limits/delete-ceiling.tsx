import type { Ceiling } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { agentsKey } from "../agents/index.ts";
import { announceChanges, announceIfOutdated, useWorkspace } from "../data/index.ts";
import { ConfirmDialog, useToast } from "../ui/index.ts";
import { ceilingsKey } from "./queries.ts";
import { scopeWords } from "./scopes.ts";

interface DeleteCeilingProps {
  readonly ceiling: Ceiling;
  readonly close: () => void;
}

/** The dialog that confirms the deletion of a ceiling (a daily spending limit). */
export function DeleteCeiling({ ceiling, close }: DeleteCeilingProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const words = scopeWords(ceiling);
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={`Delete the ceiling of ${words}?`}
      effect="Its runs can then cost as much as other limits allow. Runs that wait for it continue."
      confirmLabel="Delete ceiling"
      pendingText="Deleting…"
      onConfirm={async () => {
        await client.limits.delete(ceiling.scope, ceiling.scope_id);
        toast({ tone: "success", title: `Deleted the ceiling of ${words}` });
        // The ceiling of an agent can pause it.
        void announceChanges(queryClient, ceilingsKey(id), agentsKey(id));
      }}
      onError={(thrown) =>
        void announceIfOutdated(queryClient, thrown, ceilingsKey(id), agentsKey(id))
      }
    />
  );
}
