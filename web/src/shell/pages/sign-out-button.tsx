import { useMutation } from "@tanstack/react-query";
import { sentenceOf, useSession } from "../../data/index.ts";
import { Button } from "../../ui/index.ts";

/** Ends the session. If the server does not confirm it, says that the person is still signed in. */
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
        <p role="alert" className="text-flare">
          You are still signed in. {sentenceOf(signOut.error)}
        </p>
      ) : null}
    </>
  );
}
