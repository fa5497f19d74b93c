import { type EventOnWire, eventVersion, type NewEvent } from "@beckon/contract";
import { newId } from "../../base/ids.ts";
import type { Outcome } from "../../engine/index.ts";

/** An event as it is written to the database. */
export interface AppendEntry {
  readonly id: string;
  readonly type: string;
  /** The event's data as JSON. */
  readonly data: string;
  /**
   * Set if the data is too large for the journal. `content` is then the whole data, and `data` has
   * the artifact's id and size in place of the large fields.
   */
  readonly artifact: { readonly id: string; readonly content: string } | undefined;
}

/**
 * Maximum size of an event's data in the journal, in bytes of JSON. Larger data is written as an
 * artifact.
 */
const maxDataBytes = 64 * 1024;

/** Fields that are moved to the artifact. They hold what models and tools have written. */
const largeFields = ["parts", "arguments", "result", "output"];

/**
 * Maximum size of the other fields, in bytes of JSON. If they are larger, for example because of a
 * long call id, all fields are moved. So an event that refers to an artifact is always small, and
 * deliveries can read it without reserving memory for it.
 */
const maxOtherBytes = 4 * 1024;

/** Returns the entry to write for an event. */
export function toEntry(event: NewEvent): AppendEntry {
  const content = JSON.stringify(event.data);
  const id = newId("evt");
  // A UTF-16 code unit takes at most 3 bytes in UTF-8, so for most events the bytes need not be
  // counted.
  if (content.length * 3 <= maxDataBytes || Buffer.byteLength(content) <= maxDataBytes) {
    return { id, type: event.type, data: content, artifact: undefined };
  }
  const artifactId = newId("art");
  const reference = { artifact_id: artifactId, bytes: Buffer.byteLength(content) };
  const others = Object.entries(event.data).filter(([name]) => !largeFields.includes(name));
  const kept = JSON.stringify({ ...Object.fromEntries(others), ...reference });
  const data = Buffer.byteLength(kept) <= maxOtherBytes ? kept : JSON.stringify(reference);
  return { id, type: event.type, data, artifact: { id: artifactId, content } };
}

/** Returns a written entry as readers of the journal get it. */
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
export function finalEvent(outcome: Outcome): NewEvent {
  const { usage, cost_micros } = outcome;
  switch (outcome.status) {
    case "succeeded":
      return { type: "run.finished", data: { output: outcome.output, usage, cost_micros } };
    case "failed": {
      const { error, limit } = outcome;
      const data = { error, ...(limit === undefined ? {} : { limit }), usage, cost_micros };
      return { type: "run.failed", data };
    }
    case "cancelled":
      return { type: "run.cancelled", data: { error: outcome.error, usage, cost_micros } };
  }
}

/** Usage and cost of a run that ends before its first model call. */
export const nothingUsed = {
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 },
  cost_micros: 0,
} as const;
