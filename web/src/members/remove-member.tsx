import type { Member } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import {
  announceChanges,
  announceIfOutdated,
  forgetWorkspace,
  meQuery,
  useWorkspace,
} from "../data/index.ts";
import { ConfirmDialog, Link, useNavigateFrom, useToast } from "../ui/index.ts";
import { invitationsKey, membersKey } from "./queries.ts";

interface RemoveMemberProps {
  readonly member: Member;
  /** True if the person removes themselves. */
  readonly isOwn: boolean;
  readonly close: () => void;
}

/** Asks for confirmation before a member is removed or leaves. */
export function RemoveMember({ member, isOwn, close }: RemoveMemberProps) {
  const { id: workspaceId, name: workspaceName, client } = useWorkspace();
  const queryClient = useQueryClient();
  const navigateFrom = useNavigateFrom();
  const toast = useToast();
  const leave = async () => {
    const navigate = navigateFrom(`/w/${workspaceId}`);
    const readMe = () => queryClient.fetchQuery({ ...meQuery, staleTime: 0 });
    await client.members.remove(member.id).then(readMe, async (thrown: unknown) => {
      // The response may be lost. If the person has left, a repeat of the call is rejected.
      const me = await readMe().catch(() => undefined);
      if (me?.workspaces.every(({ id }) => id !== workspaceId) !== true) throw thrown;
    });
    forgetWorkspace();
    await navigate({ to: "/", replace: true });
    toast({ tone: "success", title: `You left ${workspaceName}.` });
  };
  const remove = async () => {
    await client.members.remove(member.id);
    toast({ tone: "success", title: `Removed ${member.name}` });
    await announceChanges(queryClient, membersKey(workspaceId), invitationsKey(workspaceId));
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={isOwn ? `Leave ${workspaceName}?` : `Remove ${member.name}?`}
      effect={
        isOwn ? (
          "You lose access to this workspace at once. What you made in it stays. To come back, you need an invitation."
        ) : (
          <>
            They cannot open this workspace any more, and invitations that they made stop. Keys,
            tokens and trigger URLs that they have seen still work: rotate them. The{" "}
            <Link href={`/w/${workspaceId}/audit?actor=user:${member.id}`}>audit log</Link> shows
            what they made and revealed. Their account stays, and so do agents and keys that they
            made. To come back, they need an invitation.
          </>
        )
      }
      confirmLabel={isOwn ? "Leave workspace" : "Remove member"}
      pendingText={isOwn ? "Leaving…" : "Removing…"}
      onConfirm={isOwn ? leave : remove}
      onError={(thrown) =>
        void announceIfOutdated(
          queryClient,
          thrown,
          membersKey(workspaceId),
          invitationsKey(workspaceId),
        )
      }
    />
  );
}
