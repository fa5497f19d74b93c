import type { StreamEvent } from "@beckon/contract";

/**
 * Returns the cursor of a run's stream after an event; undefined for events outside the journal.
 */
export function seqOf(event: StreamEvent): string | undefined {
  return "seq" in event ? String(event.seq) : undefined;
}
