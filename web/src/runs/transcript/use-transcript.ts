import type { Run } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { useRunStream } from "../../live/index.ts";
import { isEnded } from "../patch-run.ts";
import { runQuery } from "../queries.ts";
import { wholeJournalQuery } from "./queries.ts";
import { addEvent, emptyTranscript, type Transcript } from "./transcript.ts";
import { isFollowed, isLost, needsJournal, shownTranscript } from "./transcript-source.ts";

/** A run and the state of its stream. */
export interface Followed {
  readonly transcript: Transcript;
  /**
   * The run from the API; undefined until it is read. For a run that this page has started, it is
   * read after the run has ended.
   */
  readonly run: Run | undefined;
  /** True if the stream was lost before the end of the run. The page shows no more of the run. */
  readonly isLost: boolean;
  readonly error: Error | null;
  readonly refetch: () => void;
}

/**
 * Returns a run from its stream or, if the stream does not bring its end, from its journal.
 * @param isNew true if this page has just started the run. If so, the stream is opened without
 *   reading the run first.
 */
export function useTranscript(runId: string, isNew: boolean): Followed {
  const workspace = useWorkspace();
  const [streamed, setStreamed] = useState(emptyTranscript);
  const hasEnded = isEnded(streamed);
  const read = useQuery({ ...runQuery(workspace, runId), enabled: !isNew || hasEnded });
  const known = { isNew, run: read.data, streamed };
  const stream = useRunStream(isFollowed(known) && !hasEnded ? runId : undefined, (events) =>
    setStreamed((before) => events.reduce(addEvent, before)),
  );
  const isWritten = needsJournal(known, stream);
  const journal = useQuery({ ...wholeJournalQuery(workspace, runId), enabled: isWritten });
  const written = useMemo(() => journal.data?.reduce(addEvent, emptyTranscript), [journal.data]);
  const transcript = shownTranscript(known, written);
  return {
    transcript,
    run: read.data,
    isLost: !isEnded(transcript) && isLost(stream) && journal.error === null,
    error: read.error ?? journal.error,
    refetch: () => void Promise.all([read.refetch(), isWritten && journal.refetch()]),
  };
}
