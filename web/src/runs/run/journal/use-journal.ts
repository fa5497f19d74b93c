import type { WatchedEvent } from "@beckon/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useWorkspace } from "../../../data/index.ts";
import { applyOutput, type ModelOutput } from "../../model-output.ts";
import { hasEnd, type Journal, lastSeq } from "./entries.ts";
import { firstEntriesQuery, journalQuery } from "./queries.ts";
import { receiveEntries } from "./receive-entries.ts";

const empty: Journal = { events: [], isComplete: false };

/** Returns a run's journal, and the function to which the events of its stream must be passed. */
export function useJournal(runId: string) {
  const workspace = useWorkspace();
  const cache = useQueryClient();
  const query = journalQuery(workspace, runId);
  const { data, error, refetch } = useQuery(query);
  const first = cache.getQueryData(firstEntriesQuery(workspace, runId).queryKey);
  const journal = data ?? first ?? empty;
  const [output, setOutput] = useState<ModelOutput>();
  // The journal is empty again after a reset of the workspace's stream (see `LiveProvider`). The
  // run's stream then starts anew and does not repeat output that was sent before, so the text
  // would have a gap. The output so far is therefore discarded.
  if (data === undefined && output !== undefined) setOutput(undefined);

  const receive = (events: readonly WatchedEvent[]) => {
    setOutput((before) => events.reduce(applyOutput, before));
    receiveEntries(cache, workspace, runId, events);
  };
  return {
    journal,
    output,
    error,
    refetch,
    receive,
    /**
     * True when the last page has been read and the run has not ended. The stream then starts after
     * the last entry, and sends what the journal lacks.
     */
    isFollowed: data?.isComplete === true && !hasEnd(data),
    after: lastSeq(journal),
  };
}
