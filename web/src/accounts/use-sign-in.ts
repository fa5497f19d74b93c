import type { SignInBody } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { account, announceSignIn, firstCallError, meQuery, sentOnce } from "../data/index.ts";

/** Returns a function that signs in, empties the query cache, and opens the path from `pathOf`. */
export function useSignIn() {
  const queryClient = useQueryClient();
  const router = useRouter();
  return async (body: SignInBody, pathOf: () => string | Promise<string>): Promise<void> => {
    await account.signIn(body, sentOnce);
    announceSignIn();
    queryClient.clear();
    await queryClient.fetchQuery(meQuery).catch((thrown: unknown) => {
      throw firstCallError(thrown);
    });
    await router.navigate({ href: await pathOf(), replace: true });
  };
}
