import { queryOptions } from "@tanstack/react-query";
import { account, isUnauthorized } from "../data/index.ts";

/**
 * The person who is signed in; null if nobody is. It is never taken from the cache, because another
 * tab can have signed in somebody else.
 */
export const signedInQuery = queryOptions({
  queryKey: ["signed in"],
  queryFn: () =>
    account.me.get().catch((thrown: unknown) => {
      if (isUnauthorized(thrown)) return null;
      throw thrown;
    }),
  staleTime: 0,
  gcTime: 0,
});
