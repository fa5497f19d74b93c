import { queryOptions } from "@tanstack/react-query";
import { type CurrentWorkspace, isNotFound, listOptions } from "../data/index.ts";

/** Prefix of the keys of all queries about ceilings, to refetch them with `announceChanges`. */
export const ceilingsKey = (workspaceId: string) => [workspaceId, "limits"] as const;

/** Interval at which a screen refetches its ceilings, because the amounts spent grow. */
const refreshMs = 10_000;

/** The workspace's ceilings (daily spending limits), each with the amount spent today. */
export const ceilingsQuery = ({ id, client }: CurrentWorkspace) => ({
  ...listOptions([...ceilingsKey(id), "list"], (page, options) =>
    client.limits.list(page, options),
  ),
  refetchInterval: refreshMs,
});

/**
 * A single ceiling, null if it does not exist. Every form reads it again: a form that knows only an
 * earlier response could overwrite a ceiling that was created since.
 */
export const ceilingQuery = ({ id, client }: CurrentWorkspace, scope: string, scopeId: string) =>
  queryOptions({
    queryKey: [...ceilingsKey(id), scope, scopeId],
    queryFn: ({ signal }) =>
      client.limits.get(scope, scopeId, { signal }).catch((thrown: unknown) => {
        if (isNotFound(thrown)) return null;
        throw thrown;
      }),
    gcTime: 0,
  });

/** The keys, for the choice of what a ceiling applies to. */
export const keysToLimitQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([id, "keys", "of limits"], (page, options) =>
    client.keys.list({ ...page, limit: 200 }, options),
  );
