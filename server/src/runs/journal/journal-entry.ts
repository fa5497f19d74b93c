import { type EventOnWire, eventVersion, type NewEvent } from "@beckon/contract";
import { newId } from "../../base/ids.ts";
import type { Outcome } from "../../engine/index.ts";

/** An event in the form in which it is written. */
export interface AppendEntry {
  readonly id: string;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
  /** Set if the data is too large for the journal: the whole data, to which `data` refers. */
  readonly artifact: { readonly id: string; readonly content: string } | undefined;
}

/** Maximum bytes of an event's data in the journal, as JSON. Larger data becomes an artifact. */
const maxDataBytes = 64 * 1024;

/** Returns the entry to write for an event. */
export function toEntry(event: NewEvent): AppendEntry {
  const content = JSON.stringify(event.data);
  const id = newId("evt");
  // A UTF-16 code unit takes at most 3 bytes of UTF-8, so most events need no byte count.
  if (content.length * 3 <= maxDataBytes || Buffer.byteLength(content) <= maxDataBytes) {
    return { id, type: event.type, data: content, artifact: undefined };
  }
  const artifactId = newId("art");
  const data = JSON.stringify({ artifact_id: artifactId, bytes: Buffer.byteLength(content) });
  return { id, type: event.type, data, artifact: { id: artifactId, content } };
}

/** Returns a written entry in the form in which readers get it. */
export function toStored(
  event: NewEvent,
  entry: AppendEntry,
  runId: string,
  seq: number,
  time: string,
): EventOnWire {
  return {
    id: entry.id,
    run_id: runId,
    seq,
    type: entry.type,
    version: eventVersion,
    time,
    data:
      entry.artifact === undefined
        ? event.data
        : (JSON.parse(entry.data) as Record<string, unknown>),
  };
}

/** Returns the event that ends a run. */
export function terminalEvent(outcome: Outcome): NewEvent {
  const { usage, cost_micros } = outcome;
  switch (outcome.status) {
    case "succeeded":
      return { type: "run.finished", data: { output: outcome.output, usage, cost_micros } };
    case "failed":
      return { type: "run.failed", data: { error: outcome.error, usage, cost_micros } };
    case "cancelled":
      return { type: "run.cancelled", data: { error: outcome.error, usage, cost_micros } };
  }
}

/** Usage and cost of a run that ends before its first model call. */
export const nothingUsed = {
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 },
  cost_micros: 0,
} as const;
