import { useMutation } from "@tanstack/react-query";
import { useSession } from "../../data/index.ts";
import { Button, Problem } from "../../ui/index.ts";

/**
 * Ends the session. If the server does not confirm this, shows that the person is still signed in.
 */
export function SignOutButton() {
  const session = useSession();
  const signOut = useMutation({ mutationFn: () => session.signOut() });
  return (
    <>
      <Button
        pending={signOut.isPending}
        pendingText="Signing out…"
        onClick={() => signOut.mutate()}
      >
        Sign out
      </Button>
      {signOut.isError ? <Problem error={signOut.error} title="You are still signed in." /> : null}
    </>
  );
}
