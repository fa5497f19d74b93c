import type { Ceiling } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../data/index.ts";
import { ceilingQuery } from "./queries.ts";
import type { ChosenScope } from "./scope-fields.tsx";

/**
 * Returns the ceiling (daily spending limit) of a scope: from the list or, if the list has not
 * loaded it, from a request of its own. `ceiling` is null if it does not exist. It is undefined
 * until this is known, and if `scopeId` is empty.
 * @param rows the ceilings that the list has loaded
 */
export function useCeiling(rows: readonly Ceiling[], { scope, scopeId }: ChosenScope) {
  const listed = rows.find((row) => row.scope === scope && row.scope_id === scopeId);
  const { data, error, refetch } = useQuery({
    ...ceilingQuery(useWorkspace(), scope, scopeId),
    enabled: listed === undefined && scopeId !== "",
  });
  return { ceiling: listed ?? data, error, refetch };
}
