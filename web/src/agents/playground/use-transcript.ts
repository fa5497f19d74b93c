import type { Run } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { useRunStream } from "../../live/index.ts";
import { runQuery } from "../../runs/index.ts";
import { journalQuery } from "./queries.ts";
import { addEvent, emptyTranscript, isEnded, type Transcript } from "./transcript.ts";

/** A run and the state of its stream. */
export interface Followed {
  readonly transcript: Transcript;
  /**
   * The run from the API; undefined until it is read. For a run that this page has started, it is
   * read after the run has ended.
   */
  readonly run: Run | undefined;
  /** True if the run has not ended, but its stream has. The page then shows no more of the run. */
  readonly isLost: boolean;
  readonly error: Error | null;
  readonly refetch: () => void;
}

/**
 * Returns a run from its stream or, if it had ended before this page was opened, from its journal.
 * @param isNew true if this page has just started the run. If so, the stream is opened without
 *   reading the run first.
 */
export function useTranscript(runId: string, isNew: boolean): Followed {
  const workspace = useWorkspace();
  const [streamed, setStreamed] = useState(emptyTranscript);
  const hasEnded = isEnded(streamed);
  const read = useQuery({ ...runQuery(workspace, runId), enabled: !isNew || hasEnded });
  const wasEnded = !isNew && read.data !== undefined && read.data.finished_at !== null;
  // If the run is new, or had not ended when this page opened, its stream is read, and the
  // transcript from the stream is kept when the run ends. The journal has the same steps, so it is
  // requested only for runs whose stream was never read.
  const isFollowed = isNew || (read.data !== undefined && !wasEnded) || streamed.steps.length > 0;
  const journal = useQuery({ ...journalQuery(workspace, runId), enabled: wasEnded && !isFollowed });
  const stream = useRunStream(isFollowed && !hasEnded ? runId : undefined, (events) =>
    setStreamed((before) => events.reduce(addEvent, before)),
  );
  const written = useMemo(() => journal.data?.reduce(addEvent, emptyTranscript), [journal.data]);
  const transcript = completed(written ?? streamed, read.data);
  return {
    transcript,
    run: read.data,
    isLost: !isEnded(transcript) && (stream === "failed" || stream === "replaced"),
    error: read.error ?? journal.error,
    refetch: () => void Promise.all([read.refetch(), wasEnded && journal.refetch()]),
  };
}

/** Returns the transcript with the fields that only the run has, for example a large output. */
function completed(transcript: Transcript, run: Run | undefined): Transcript {
  if (run === undefined || run.finished_at === null) return transcript;
  return {
    ...transcript,
    status: run.status as Transcript["status"],
    output: run.output ?? transcript.output,
    error: run.error,
    usage: run.usage,
    costMicros: run.cost_micros,
    startedAt: run.started_at ?? transcript.startedAt,
    finishedAt: run.finished_at,
  };
}
