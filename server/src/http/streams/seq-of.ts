import type { StreamEvent } from "@beckon/contract";

/**
 * Returns the cursor with which a reader of a run's stream resumes after this event; undefined for
 * events outside the journal, after which a reader cannot resume.
 */
export function seqOf(event: StreamEvent): string | undefined {
  return "seq" in event ? String(event.seq) : undefined;
}
