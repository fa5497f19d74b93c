import type { Invitation } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { announceChanges, announceIfOutdated, useWorkspace } from "../data/index.ts";
import { Button, ConfirmDialog, useToast } from "../ui/index.ts";
import { invitationsKey } from "./queries.ts";
import { outOfReach } from "./roles.ts";

/** A button that revokes an invitation after a confirmation. */
export function RevokeInvitation({ invitation }: { readonly invitation: Invitation }) {
  const { id: workspaceId, role: ownRole, client, whyNot } = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [open, setOpen] = useState(false);
  const revoke = async () => {
    await client.invitations.delete(invitation.id);
    toast({ tone: "success", title: `Revoked the invitation of ${invitation.email}` });
    await announceChanges(queryClient, invitationsKey(workspaceId));
  };
  return (
    <>
      <Button
        size="small"
        variant="danger"
        onClick={() => setOpen(true)}
        disabledReason={whyNot("members:write") ?? outOfReach(invitation.role, ownRole)}
      >
        Revoke
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={`Revoke the invitation of ${invitation.email}?`}
        effect="Its link stops at once. You can invite them again."
        confirmLabel="Revoke invitation"
        pendingText="Revoking…"
        onConfirm={revoke}
        onError={(thrown) =>
          void announceIfOutdated(queryClient, thrown, invitationsKey(workspaceId))
        }
      />
    </>
  );
}
