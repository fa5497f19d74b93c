import { failureOf, isOutcomeUnknown, useSession } from "../data/index.ts";
import { useToast } from "../ui/index.ts";

/**
 * Returns a function that ends the session. If this fails, a toast says that the person is still
 * signed in. If the response was lost, the toast says that the sign-out was not confirmed.
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
