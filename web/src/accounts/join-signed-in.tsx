import { BeckonError, type Me } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { account, isOutcomeUnknown, isUnauthorized, meQuery, sentOnce } from "../data/index.ts";
import { Button, FormError } from "../ui/index.ts";
import { tooManySentence } from "./sign-in-errors.ts";
import { signedInQuery } from "./signed-in.ts";

interface JoinSignedInProps {
  readonly token: string;
  readonly workspaceId: string;
  /** The person whom the page names as signed in. */
  readonly me: Pick<Me, "id" | "email">;
}

/** Accepts an invitation with the account that is signed in. */
export function JoinSignedIn({ token, workspaceId, me }: JoinSignedInProps) {
  const queryClient = useQueryClient();
  const router = useRouter();
  const join = useMutation({
    mutationFn: async () => {
      // Another tab can have signed in somebody else, who would then become the member.
      const now = await queryClient.fetchQuery(signedInQuery);
      if (now?.id !== me.id) throw signedOut(me.email);
      await account.invitations.accept({ token }, sentOnce).catch(async (thrown: unknown) => {
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
        You are signed in as <strong className="font-semibold">{me.email}</strong>.
      </p>
      <FormError error={tooManySentence(join.error) ?? join.error} />
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

function signedOut(email: string): BeckonError {
  const message = `You are no longer signed in as ${email}. Check who joins, then press Join again.`;
  return new BeckonError({ code: "conflict", message });
}

async function isMember(workspaceId: string): Promise<boolean> {
  const { workspaces } = await account.me.get();
  return workspaces.some(({ id }) => id === workspaceId);
}
