import type { StreamEvent } from "@beckon/contract";

/** The cursor of a run's stream: events of the journal have a place in it, and no others. */
export function seqOf(event: StreamEvent): string | undefined {
  return "seq" in event ? String(event.seq) : undefined;
}
