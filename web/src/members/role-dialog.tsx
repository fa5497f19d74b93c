import type { Member } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  announceChanges,
  announceIfOutdated,
  isNotFound,
  meQuery,
  sentenceOf,
  useMe,
  useWorkspace,
} from "../data/index.ts";
import {
  Button,
  Dialog,
  FormError,
  FormPendingContext,
  RadioCards,
  useToast,
} from "../ui/index.ts";
import { invitationsKey, membersKey } from "./queries.ts";
import { roleChoices, roleLabel } from "./roles.ts";

interface RoleDialogProps {
  readonly member: Member;
  readonly close: () => void;
}

/** The dialog that changes the role of a member. */
export function RoleDialog({ member, close }: RoleDialogProps) {
  const { id: workspaceId, role: ownRole, client } = useWorkspace();
  const isOwn = useMe().id === member.id;
  const queryClient = useQueryClient();
  const readOwnRole = async () => {
    const me = await queryClient.fetchQuery({ ...meQuery, staleTime: 0 }).catch(() => undefined);
    return me?.workspaces.find(({ id }) => id === workspaceId)?.role;
  };
  const toast = useToast();
  const [chosen, setChosen] = useState<Member["role"]>();
  const role = chosen ?? member.role;
  const affected = [
    membersKey(workspaceId),
    invitationsKey(workspaceId),
    ...(isOwn ? [meQuery.queryKey] : []),
  ];
  const change = useMutation({
    mutationFn: () =>
      client.members.update(member.id, { role }).catch(async (thrown: unknown) => {
        // The response may be lost. With the new role, the call cannot be repeated to find out.
        if (isOwn && (await readOwnRole()) === role) return { ...member, role };
        throw thrown;
      }),
    onSuccess: (changed) => {
      toast({ tone: "success", title: `${changed.name} is now ${roleLabel(changed.role)}.` });
      void announceChanges(queryClient, ...affected);
    },
    onError: (thrown) => {
      void announceIfOutdated(queryClient, thrown, ...affected);
      if (!isNotFound(thrown)) return;
      // The dialog belongs to the member's row. It disappears with the row, before its error can be
      // read.
      toast({
        tone: "failure",
        title: "The role was not changed.",
        description: sentenceOf(thrown),
      });
    },
  });
  return (
    <Dialog
      open
      onOpenChange={close}
      // Closing the dialog would not stop the request, but hide its error.
      dismissible={!change.isPending}
      size="small"
      title={`Role of ${member.name}`}
      description={
        isOwn
          ? "You change your own role. With a lower one you cannot change it back yourself."
          : "The new role applies to their next request. An open reset link of theirs stops, and so do invitations that the new role could not make."
      }
      footer={
        <>
          <Button onClick={close} disabled={change.isPending}>
            Cancel
          </Button>
          <Button
            variant="primary"
            onClick={() => change.mutate(undefined, { onSuccess: close })}
            pending={change.isPending}
            disabled={role === member.role}
          >
            Change role
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <FormPendingContext value={change.isPending}>
          <RadioCards
            label="Role"
            labelHidden
            options={roleChoices(ownRole)}
            value={role}
            onChange={setChosen}
          />
        </FormPendingContext>
        <FormError error={change.error} />
      </div>
    </Dialog>
  );
}
