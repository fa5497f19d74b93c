import type { JournalEvent } from "@beckon/client";
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../../../data/index.ts";
import { parseExactly } from "../../../json/index.ts";
import { type Journal, lastSeq } from "./entries.ts";

const pageSize = 200;
/** The first page is small, because the screen shows no steps before it has arrived. */
const firstPageSize = 60;
/**
 * Minimum time between two updates of the screen while pages arrive, because each update lays out
 * all rows again.
 */
const minShowMs = 500;

/** Prefix of the keys of all queries about a run's journal. */
const journalKey = (workspaceId: string, runId: string) =>
  [workspaceId, "journals", runId] as const;

type Workspace = Pick<CurrentWorkspace, "id" | "client">;

/**
 * The first page of a journal. It is requested together with the run, so that the first steps are
 * shown early.
 */
export const firstEntriesQuery = ({ id, client }: Workspace, runId: string) =>
  queryOptions({
    queryKey: [...journalKey(id, runId), "first"],
    queryFn: async ({ signal }): Promise<Journal> => {
      const query = { view: "summary", limit: firstPageSize } as const;
      const { data, next } = await client.runs.listEvents(runId, query, { signal }).page();
      return { events: data, isComplete: next === null };
    },
    staleTime: 10_000,
  });

/**
 * The journal of a run, without texts. Its first entries are shown as soon as they arrive. It is
 * read only once: later entries come from the run's stream.
 */
export const journalQuery = (workspace: Workspace, runId: string) => {
  const { id, client } = workspace;
  const queryKey = [...journalKey(id, runId), "summary"] as const;
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client: cache }): Promise<Journal> => {
      // If the person left the screen while the journal loaded, the entries shown until then are
      // still cached. Reading continues after them.
      const known = cache.getQueryData<Journal>(queryKey);
      let journal =
        known?.isComplete === false
          ? known
          : await cache.fetchQuery(firstEntriesQuery(workspace, runId));
      let shownAt = Number.NEGATIVE_INFINITY;
      while (!journal.isComplete) {
        if (Date.now() - shownAt >= minShowMs) {
          shownAt = Date.now();
          cache.setQueryData<Journal>(queryKey, journal);
          await nextPaint();
        }
        const query = { view: "summary", limit: pageSize, after: lastSeq(journal) } as const;
        const page = await client.runs.listEvents(runId, query, { signal }).page();
        const events = [...journal.events, ...page.data];
        journal = { events, isComplete: page.next === null };
      }
      return journal;
    },
    staleTime: ({ state }) => (state.data?.isComplete ? Number.POSITIVE_INFINITY : 0),
    // Events of the run's stream are appended to the journal. A reset (see `useResets`) starts the
    // stream anew, so the journal must be read anew too.
    meta: { emptiedByReset: true },
  });
};

/**
 * Resolves after the next frame, so that the browser paints the rows before further pages are read.
 */
async function nextPaint(): Promise<void> {
  // A hidden tab renders no frames, so the wait would never end.
  if (document.hidden) return;
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/**
 * One entry of a journal with its texts; null if the run has no such entry. Integers of a tool's
 * arguments and result keep all their digits.
 */
export const entryQuery = ({ id, client }: CurrentWorkspace, runId: string, seq: number) =>
  queryOptions({
    queryKey: [...journalKey(id, runId), seq],
    queryFn: async ({ signal }): Promise<JournalEvent | null> => {
      const query = { after: seq - 1, limit: 1 };
      const options = { signal, parse: parseExactly };
      const { data } = await client.runs.listEvents(runId, query, options).page();
      return data[0] ?? null;
    },
    // An entry never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Time between two checks whether a run waits for a limit. No event says that it does. */
const waitPollMs = 5_000;

/**
 * The limit for which a run waits; null if it waits for none. Its key differs from that of the run,
 * because refetching the run could replace a newer state from the run's stream.
 */
export const waitingForQuery = ({ id, client }: CurrentWorkspace, runId: string) =>
  queryOptions({
    queryKey: [...journalKey(id, runId), "waiting-for"],
    queryFn: async ({ signal }) => (await client.runs.get(runId, { signal })).waiting_for ?? null,
    refetchInterval: waitPollMs,
  });

/** Makes `entryQuery` return an entry of the stream without a request. */
export function cacheEntry(
  cache: QueryClient,
  workspace: CurrentWorkspace,
  runId: string,
  entry: JournalEvent,
): void {
  cache.setQueryData(entryQuery(workspace, runId, entry.seq).queryKey, entry);
}

/** A version of an agent. It contains the maximum number of attempts of the version's runs. */
export const versionQuery = ({ id, client }: CurrentWorkspace, agentId: string, version: number) =>
  queryOptions({
    queryKey: [id, "agents", agentId, "versions", version],
    queryFn: ({ signal }) => client.versions.get(agentId, version, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The trigger that started a run. If no trigger started it, the id is null and nothing is read. */
export const triggerQuery = (
  { id, client }: CurrentWorkspace,
  agentId: string,
  triggerId: string | null,
) =>
  queryOptions({
    queryKey: [id, "triggers", agentId, "one", triggerId],
    queryFn: ({ signal }) => client.triggers.get(agentId, triggerId ?? "", { signal }),
    enabled: triggerId !== null,
  });
