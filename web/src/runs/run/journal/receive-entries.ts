import type { WatchedEvent } from "@beckon/client";
import type { QueryClient } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../../../data/index.ts";
import { patchRun } from "../../patch-run.ts";
import { runQuery } from "../../queries.ts";
import { append, hasEnd, newEntries } from "./entries.ts";
import { cacheEntry, journalQuery } from "./queries.ts";

/**
 * Adds the events of a run's stream to the cached journal, and updates the cached run. Ignores them
 * if the cache does not have the whole journal. It does not after a reset of the workspace's stream
 * (see `LiveProvider`), and the journal would then lack its beginning.
 */
export function receiveEntries(
  cache: QueryClient,
  workspace: CurrentWorkspace,
  runId: string,
  events: readonly WatchedEvent[],
): void {
  const { queryKey } = journalQuery(workspace, runId);
  const known = cache.getQueryData(queryKey);
  if (known?.isComplete !== true) return;
  const entries = newEntries(known, events);
  if (entries.length === 0) return;
  for (const entry of entries) cacheEntry(cache, workspace, runId, entry);
  const journal = append(known, entries);
  cache.setQueryData(queryKey, journal);
  const run = runQuery(workspace, runId);
  cache.setQueryData(run.queryKey, (before) => before && entries.reduce(patchRun, before));
  // The final event lacks large data, for example a long output. So the run is refetched.
  if (hasEnd(journal)) void cache.invalidateQueries({ queryKey: run.queryKey });
}
