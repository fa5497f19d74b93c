import { useMutation } from "@tanstack/react-query";
import { failureOf, isOutcomeUnknown, useSession } from "../../data/index.ts";
import { Button, Problem } from "../../ui/index.ts";

/**
 * Ends the session. If the server does not confirm this, shows that the person is still signed in
 * or, if the response was lost, that this is not known.
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
      {signOut.isError ? (
        <Problem
          error={failureOf(signOut.error, "you are signed out", "Sign out again.")}
          title={
            isOutcomeUnknown(signOut.error)
              ? "The sign-out was not confirmed."
              : "You are still signed in."
          }
        />
      ) : null}
    </>
  );
}
