import { useEffect, useState } from "react";
import { keep, keptKey, readKept, useMe } from "../../data/index.ts";

/** A message of the conversation, and the run that it has started. */
export interface Turn {
  readonly runId: string;
  /**
   * The message; undefined if this page did not send it. In that case, it is read together with the
   * run.
   */
  readonly input: string | undefined;
  /**
   * Version of the agent that this page knew when it sent the message. Undefined if this page did
   * not send it.
   */
  readonly version?: number;
  /** True for a run with unsaved settings. Undefined if this page did not send the message. */
  readonly isDraft?: boolean;
  /**
   * Number of resets (see `useResets`) when the message was sent. Undefined if this page did not
   * send it.
   */
  readonly resets?: number;
}

/**
 * Maximum number of messages in the conversation. Older ones are removed from it, but their runs
 * are not deleted.
 */
const maxTurns = 20;

/**
 * Returns the last messages that the person has sent to the agent in this tab, at most `maxTurns`,
 * with the functions that add one and that remove all. Only the ids of the runs survive a reload:
 * the messages themselves are then read together with their runs.
 */
export function useTurns(agentId: string) {
  const key = keptKey("playground", useMe().id, agentId);
  const [turns, setTurns] = useState(() => read(key));
  useEffect(() => {
    keep(key, turns.map(({ runId }) => runId).join(" "));
  }, [key, turns]);
  return {
    turns,
    // `add` is called when a run has started. The person may have cleared the conversation after
    // sending the message, so `add` uses the current turns and not those of the last rendering.
    add: (turn: Turn) => setTurns((before) => [...before, turn].slice(-maxTurns)),
    clear: () => setTurns([]),
  };
}

function read(key: string): readonly Turn[] {
  const text = readKept(key) ?? "";
  return text
    .split(" ")
    .filter((runId) => runId !== "")
    .map((runId) => ({ runId, input: undefined }));
}
