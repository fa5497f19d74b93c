import type { WorkspaceEvent } from "@beckon/contract";
import { toCursor } from "./cursor.ts";
import type { PlacedEvent } from "./store.ts";

/** Many readers are shown one event: it is made for the first of them. */
const made = new WeakMap<PlacedEvent, WorkspaceEvent>();

export function toWire(event: PlacedEvent, generation: string): WorkspaceEvent {
  const known = made.get(event);
  if (known !== undefined) return known;
  const { id, runId, agentId, seq, type, version, time, data } = event;
  const rest = { type, version, time, data, cursor: toCursor(generation, event) };
  const shown =
    runId === "" || agentId === null
      ? { id, run_id: null, agent_id: agentId, seq: null, ...rest }
      : { id, run_id: runId, agent_id: agentId, seq, ...rest };
  made.set(event, shown);
  return shown;
}
