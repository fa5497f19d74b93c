import type { WorkspaceEvent } from "@beckon/contract";
import { toCursor } from "./cursor.ts";
import type { StoredEvent } from "./store.ts";

/** Returns the event in the form of the public API, with its cursor. */
export function toWire(event: StoredEvent, generation: string): WorkspaceEvent {
  const { id, runId, agentId, seq, type, version, time, data, merged } = event;
  const rest = { type, version, time, data, cursor: toCursor(generation, event) };
  return runId === "" || agentId === null
    ? { id, run_id: null, agent_id: agentId, seq: null, ...rest }
    : {
        id,
        run_id: runId,
        agent_id: agentId,
        seq,
        ...rest,
        ...(merged === undefined ? {} : { merged }),
      };
}
