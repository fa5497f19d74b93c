import { failureOf, isOutcomeUnknown, useSession } from "../data/index.ts";
import { useSignOutQuestion, useToast } from "../ui/index.ts";

/**
 * Returns `signOut`, which ends the session, and `question`, which must be rendered: it asks first
 * if the page has unsaved changes. If the sign-out fails, a toast says that the person is still
 * signed in. If the response was lost, the toast says that the sign-out was not confirmed.
 */
export function useSignOut() {
  const session = useSession();
  const toast = useToast();
  const { ask, question } = useSignOutQuestion(
    () =>
      void session.signOut().catch((thrown: unknown) =>
        toast({
          tone: "failure",
          title: isOutcomeUnknown(thrown)
            ? "The sign-out was not confirmed"
            : "You are still signed in",
          description: failureOf(thrown, "you are signed out", "Sign out again."),
        }),
      ),
  );
  return { signOut: ask, question };
}
