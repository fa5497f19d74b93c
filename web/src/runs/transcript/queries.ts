import type { JournalEvent } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../../data/index.ts";
import { parseExactly } from "../../json/index.ts";

/**
 * All journal entries of a run that has ended, with their texts, arguments and results. Integers
 * keep all their digits.
 */
export const wholeJournalQuery = (
  { id, client }: Pick<CurrentWorkspace, "id" | "client">,
  runId: string,
) =>
  queryOptions({
    queryKey: [id, "runs", runId, "transcript"],
    queryFn: async ({ signal }): Promise<readonly JournalEvent[]> => {
      const events: JournalEvent[] = [];
      const options = { signal, parse: parseExactly };
      for await (const event of client.runs.listEvents(runId, { limit: 200 }, options))
        events.push(event);
      return events;
    },
    // The journal no longer changes, because the run has ended.
    staleTime: Number.POSITIVE_INFINITY,
  });
