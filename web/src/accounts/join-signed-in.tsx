import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { account, isOutcomeUnknown, isUnauthorized, meQuery } from "../data/index.ts";
import { Button, FormError } from "../ui/index.ts";

interface JoinSignedInProps {
  readonly token: string;
  readonly workspaceId: string;
  readonly email: string;
}

/** Accepts an invitation with the account that is signed in. */
export function JoinSignedIn({ token, workspaceId, email }: JoinSignedInProps) {
  const queryClient = useQueryClient();
  const router = useRouter();
  const join = useMutation({
    mutationFn: async () => {
      await account.invitations.accept({ token }).catch(async (thrown: unknown) => {
        // The invitation may have been accepted nevertheless: by this call, if its response was
        // lost, or by an earlier one, after which the link is rejected (401). So the page checks
        // whether the person is a member.
        const mayHaveJoined = isOutcomeUnknown(thrown) || isUnauthorized(thrown);
        if (!mayHaveJoined || !(await isMember(workspaceId))) throw thrown;
      });
      queryClient.removeQueries({ queryKey: meQuery.queryKey });
      await router.navigate({ href: `/w/${workspaceId}`, replace: true });
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <p>
        You are signed in as <strong className="font-semibold">{email}</strong>.
      </p>
      <FormError error={join.error} />
      <Button
        variant="primary"
        pending={join.isPending}
        pendingText="Joining…"
        onClick={() => join.mutate()}
      >
        Join
      </Button>
    </div>
  );
}

async function isMember(workspaceId: string): Promise<boolean> {
  const { workspaces } = await account.me.get();
  return workspaces.some(({ id }) => id === workspaceId);
}
