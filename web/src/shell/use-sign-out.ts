import { sentenceOf, useSession } from "../data/index.ts";
import { useToast } from "../ui/index.ts";

/**
 * Returns a function that ends the session. If the server does not confirm the end, a toast says
 * that the person is still signed in.
 */
export function useSignOut(): () => void {
  const session = useSession();
  const toast = useToast();
  return () =>
    void session.signOut().catch((thrown: unknown) =>
      toast({
        tone: "failure",
        title: "You are still signed in",
        description: sentenceOf(thrown),
      }),
    );
}
