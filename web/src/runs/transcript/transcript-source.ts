import type { Run } from "@beckon/client";
import type { RunStreamState } from "../../live/index.ts";
import { isEnded } from "../patch-run.ts";
import { allSteps, type Transcript } from "./transcript.ts";

/** What this page knows about a run. */
export interface Known {
  /** True if this page has just started the run. */
  readonly isNew: boolean;
  /** The run from the API; undefined until it is read. */
  readonly run: Run | undefined;
  /** The transcript from the events of the stream. */
  readonly streamed: Transcript;
}

/**
 * Returns whether the stream of the run is read: if the run is new, or had not ended when this page
 * opened. The transcript from the stream is kept when the run ends.
 */
export function isFollowed({ isNew, run, streamed }: Known): boolean {
  return isNew || (run !== undefined && !isEnded(run)) || allSteps(streamed).length > 0;
}

/** Returns whether no events follow in this stream, although the run may continue. */
export function isLost(stream: RunStreamState): boolean {
  return stream === "failed" || stream === "replaced";
}

/**
 * Returns whether the journal of the run must be read. It has the same steps as the stream, so it
 * is read only if the run has ended and the stream does not bring its end.
 */
export function needsJournal(known: Known, stream: RunStreamState): boolean {
  const { run, streamed } = known;
  if (run === undefined || !isEnded(run) || isEnded(streamed)) return false;
  return !isFollowed(known) || stream !== "live";
}

/**
 * Returns the transcript to show, with the fields that only the run has, for example a large
 * output. If the stream has brought only the first steps of a run that has ended, the run counts as
 * not ended until the last steps are read. Else the page would show half of the run as the whole.
 * @param written the transcript from the journal; undefined if it is not read
 */
export function shownTranscript(
  { run, streamed }: Omit<Known, "isNew">,
  written: Transcript | undefined,
): Transcript {
  const transcript = written ?? streamed;
  const isPart = written === undefined && allSteps(streamed).length > 0 && !isEnded(streamed);
  if (isPart || run === undefined || !isEnded(run)) return transcript;
  return { ...transcript, ...run };
}
