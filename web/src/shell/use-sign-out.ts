import { failureOf, isOutcomeUnknown, useSession } from "../data/index.ts";
import { useToast } from "../ui/index.ts";

/**
 * Returns a function that ends the session. If the server does not confirm the end, a toast says
 * that the person is still signed in or, if the response was lost, that this is not known.
 */
export function useSignOut(): () => void {
  const session = useSession();
  const toast = useToast();
  return () =>
    void session.signOut().catch((thrown: unknown) =>
      toast({
        tone: "failure",
        title: isOutcomeUnknown(thrown)
          ? "The sign-out was not confirmed"
          : "You are still signed in",
        description: failureOf(thrown, "you are signed out", "Sign out again."),
      }),
    );
}
