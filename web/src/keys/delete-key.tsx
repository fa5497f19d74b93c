import type { Key } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { announceChanges, announceIfOutdated, useWorkspace } from "../data/index.ts";
import { formatTime } from "../format/index.ts";
import { invitationsKey } from "../members/index.ts";
import { ConfirmDialog, useNow, useTimeZone, useToast } from "../ui/index.ts";
import { keysKey } from "./queries.ts";

interface DeleteKeyProps {
  readonly apiKey: Key;
  readonly close: () => void;
}

/** The dialog that confirms the deletion of a key. A deleted key is rejected at once. */
export function DeleteKey({ apiKey, close }: DeleteKeyProps) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const now = useNow();
  const zone = useTimeZone();
  const { name, last_used_at: usedAt } = apiKey;
  const changed = [keysKey(workspace.id), invitationsKey(workspace.id)];
  const used =
    usedAt === null ? "It was never used." : `It was last used ${formatTime(usedAt, now, zone)}.`;
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={`Delete the key ${name}?`}
      effect={`${used} Every request with it is rejected from now on, and open invitations and reset links that it made stop. This cannot be undone.`}
      confirmLabel="Delete key"
      pendingText="Deleting…"
      onConfirm={async () => {
        await workspace.client.keys.delete(apiKey.id);
        toast({ tone: "success", title: `Deleted the key ${name}` });
        void announceChanges(queryClient, ...changed);
      }}
      onError={(thrown) => void announceIfOutdated(queryClient, thrown, ...changed)}
    />
  );
}
