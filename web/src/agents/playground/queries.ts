import type { JournalEvent } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../../data/index.ts";

/** All journal entries of a run that has ended, with their texts, arguments and results. */
export const journalQuery = ({ id, client }: CurrentWorkspace, runId: string) =>
  queryOptions({
    queryKey: [id, "runs", runId, "playground"],
    queryFn: async ({ signal }): Promise<readonly JournalEvent[]> => {
      const events: JournalEvent[] = [];
      for await (const event of client.runs.listEvents(runId, { limit: 200 }, { signal }))
        events.push(event as JournalEvent);
      return events;
    },
    // The journal no longer changes, because the run has ended.
    staleTime: Number.POSITIVE_INFINITY,
  });
