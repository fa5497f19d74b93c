import type { JournalEvent } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../../../data/index.ts";
import { type Journal, lastSeq } from "./live.ts";

const pageSize = 200;

/** Beginning of the keys of all queries of a run's journal. */
const journalKey = (workspaceId: string, runId: string) =>
  [workspaceId, "journals", runId] as const;

/**
 * The journal of a run, without texts. Its pages are shown as they arrive. It is read once: the
 * run's stream adds to it.
 */
export const journalQuery = ({ id, client }: CurrentWorkspace, runId: string) => {
  const queryKey = [...journalKey(id, runId), "summary"] as const;
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client: cache }): Promise<Journal> => {
      let journal: Journal = { events: [], isComplete: false };
      for (;;) {
        const query = { view: "summary", limit: pageSize, after: lastSeq(journal) } as const;
        const page = await client.runs.listEvents(runId, query, { signal }).page();
        const events = [...journal.events, ...(page.data as JournalEvent[])];
        journal = { events, isComplete: page.next === null };
        if (journal.isComplete) return journal;
        cache.setQueryData<Journal>(queryKey, journal);
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
};

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
