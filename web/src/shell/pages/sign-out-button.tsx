import { useMutation } from "@tanstack/react-query";
import { failureOf, isOutcomeUnknown, useSession } from "../../data/index.ts";
import { Button, Problem } from "../../ui/index.ts";

/**
 * A button that ends the session. If this fails, an error says that the person is still signed in.
 * If the response was lost, the error says that the sign-out was not confirmed.
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
