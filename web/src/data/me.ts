import type { Me } from "@beckon/client";
import type { Scope } from "@beckon/contract";
import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { account } from "./client.ts";
import { forgetKeptOfOthers } from "./storage/tab-storage.ts";

/** A workspace of the signed-in person, with their permissions in it. */
export type Membership = Me["workspaces"][number] & { readonly scopes: readonly Scope[] };

/** The signed-in person and their workspaces. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal }) => {
    const me = await account.me.get({ signal });
    forgetKeptOfOthers(me.id);
    return me as Me & { workspaces: readonly Membership[] };
  },
});

/** Returns the signed-in person. The route has loaded them before a screen is shown. */
export function useMe() {
  return useSuspenseQuery(meQuery).data;
}
