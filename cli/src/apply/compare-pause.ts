import { UsageError } from "../terminal.ts";
import type { AgentInFile } from "./read-document.ts";

/** The request that makes `paused` and `pause_reason` of an agent equal to those in the file. */
export interface PauseChange {
  /**
   * `pause` also changes the reason of an agent that is paused already. Undefined if no field
   * differs.
   */
  readonly request: "pause" | "resume" | undefined;
  /** Reason for `pause`; null for none. */
  readonly reason: string | null;
  /** Names of the fields that differ. */
  readonly fields: readonly ("paused" | "pause_reason")[];
}

/**
 * Compares `paused` and `pause_reason` of an agent in a file with those of the exported one. Fields
 * that the file omits keep their values.
 * @throws UsageError if the file has a reason for an agent that is not paused
 */
export function comparePause(
  { name, paused, pause_reason }: Pick<AgentInFile, "name" | "paused" | "pause_reason">,
  exported: { readonly paused: boolean; readonly pause_reason: string | null },
): PauseChange {
  const isPaused = paused ?? exported.paused;
  if (!isPaused && pause_reason) {
    throw new UsageError(
      `The agent ${JSON.stringify(name)} has a pause_reason, but is not paused. Add paused: true, ` +
        "or remove pause_reason.",
    );
  }
  // Only a paused agent has a reason. The server removes the reason when the agent is resumed, or
  // when it is paused again without one, so a `pause` without a reason applies `pause_reason:
  // null`.
  const before = exported.paused ? exported.pause_reason : null;
  const reason = pause_reason === undefined ? before : pause_reason;
  const fields = [
    ...(isPaused === exported.paused ? [] : (["paused"] as const)),
    ...(!isPaused || reason === before ? [] : (["pause_reason"] as const)),
  ];
  if (fields.length === 0) return { request: undefined, reason, fields };
  return { request: isPaused ? "pause" : "resume", reason, fields };
}
