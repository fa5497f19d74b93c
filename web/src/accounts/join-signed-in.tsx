import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { account, meQuery } from "../data/index.ts";
import { Button, FormError } from "../ui/index.ts";

interface JoinSignedInProps {
  readonly token: string;
  readonly email: string;
}

/** Accepts an invitation with the account that is signed in. */
export function JoinSignedIn({ token, email }: JoinSignedInProps) {
  const queryClient = useQueryClient();
  const router = useRouter();
  const join = useMutation({
    mutationFn: async () => {
      const { workspace_id: workspaceId } = await account.invitations.accept({ token });
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
