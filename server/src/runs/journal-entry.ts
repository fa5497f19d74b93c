import { type EventOnWire, eventVersion, type NewEvent } from "@beckon/contract";
import { newId } from "../base/ids.ts";
import type { AppendEntry } from "./append-statement.ts";

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
export function toStored(event: NewEvent, entry: AppendEntry, runId: string, seq: number, time: string): EventOnWire {
  return {
    id: entry.id,
    run_id: runId,
    seq,
    type: entry.type,
    version: eventVersion,
    time,
    data: entry.artifact === undefined ? event.data : (JSON.parse(entry.data) as Record<string, unknown>),
  };
}
