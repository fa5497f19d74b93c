import { type EventOnWire, eventVersion, type NewEvent } from "@beckon/contract";
import { newId } from "../../base/ids.ts";
import type { Outcome } from "../../engine/index.ts";

/** An event as it is written. */
export interface AppendEntry {
  readonly id: string;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
  /** Where `data` is too large for the journal: the whole of it, which `data` then refers to. */
  readonly artifact: { readonly id: string; readonly content: string } | undefined;
}

/** Bytes of JSON that an event's data may have in the journal; what is larger becomes an artifact. */
const maxDataBytes = 64 * 1024;

/** The entry to write for an event. */
export function toEntry(event: NewEvent): AppendEntry {
  const content = JSON.stringify(event.data);
  const id = newId("evt");
  if (content.length * 3 <= maxDataBytes || Buffer.byteLength(content) <= maxDataBytes) {
    return { id, type: event.type, data: content, artifact: undefined };
  }
  const artifactId = newId("art");
  const data = JSON.stringify({ artifact_id: artifactId, bytes: Buffer.byteLength(content) });
  return { id, type: event.type, data, artifact: { id: artifactId, content } };
}

/** The same entry as readers get it, once it is written. */
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

/** The event that ends a run. */
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

/** What a run has used that ends before its first model call. */
export const nothingUsed = {
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 },
  cost_micros: 0,
} as const;
