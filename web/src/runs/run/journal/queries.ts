import type { JournalEvent } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../../../data/index.ts";
import { type Journal, lastSeq } from "./live.ts";

const pageSize = 200;
/** The first page is small, because the page of the run shows nothing before it. */
const firstPageSize = 60;
/** Further pages are shown together, because each showing lays out all rows again. */
const minShowMs = 500;

/** Beginning of the keys of all queries of a run's journal. */
const journalKey = (workspaceId: string, runId: string) =>
  [workspaceId, "journals", runId] as const;

type Workspace = Pick<CurrentWorkspace, "id" | "client">;

/** The first entries of a journal, with which the page of a run begins. */
export const firstEntriesQuery = ({ id, client }: Workspace, runId: string) =>
  queryOptions({
    queryKey: [...journalKey(id, runId), "first"],
    queryFn: async ({ signal }): Promise<Journal> => {
      const query = { view: "summary", limit: firstPageSize } as const;
      const { data, next } = await client.runs.listEvents(runId, query, { signal }).page();
      return { events: data as JournalEvent[], isComplete: next === null };
    },
    staleTime: 10_000,
  });

/**
 * The journal of a run, without texts. Its first entries are shown as they arrive. It is read once:
 * the run's stream adds to it.
 */
export const journalQuery = (workspace: Workspace, runId: string) => {
  const { id, client } = workspace;
  const queryKey = [...journalKey(id, runId), "summary"] as const;
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client: cache }): Promise<Journal> => {
      let journal = await cache.fetchQuery(firstEntriesQuery(workspace, runId));
      let shownAt = Number.NEGATIVE_INFINITY;
      while (!journal.isComplete) {
        if (Date.now() - shownAt >= minShowMs) {
          shownAt = Date.now();
          cache.setQueryData<Journal>(queryKey, journal);
          await nextPaint();
        }
        const query = { view: "summary", limit: pageSize, after: lastSeq(journal) } as const;
        const page = await client.runs.listEvents(runId, query, { signal }).page();
        const events = [...journal.events, ...(page.data as JournalEvent[])];
        journal = { events, isComplete: page.next === null };
      }
      return journal;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
};

/** Resolves after the next frame, so that rows are painted before more are read. */
async function nextPaint(): Promise<void> {
  // A hidden tab has no frames.
  if (document.hidden) return;
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** One entry of a journal with its texts; null if the run has no such entry. */
export const entryQuery = ({ id, client }: CurrentWorkspace, runId: string, seq: number) =>
  queryOptions({
    queryKey: [...journalKey(id, runId), seq],
    queryFn: async ({ signal }): Promise<JournalEvent | null> => {
      const query = { after: seq - 1, limit: 1 };
      const { data } = await client.runs.listEvents(runId, query, { signal }).page();
      return (data[0] as JournalEvent | undefined) ?? null;
    },
    // An entry never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The version of the agent that the run executes; for its limits. */
export const versionQuery = ({ id, client }: CurrentWorkspace, agentId: string, version: number) =>
  queryOptions({
    queryKey: [id, "agents", agentId, "versions", version],
    queryFn: ({ signal }) => client.versions.get(agentId, String(version), { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The trigger that started the run. */
export const triggerQuery = (
  { id, client }: CurrentWorkspace,
  agentId: string,
  triggerId: string | null,
) =>
  queryOptions({
    queryKey: [id, "triggers", agentId, triggerId],
    queryFn: ({ signal }) => client.triggers.get(agentId, triggerId ?? "", { signal }),
    enabled: triggerId !== null,
  });
