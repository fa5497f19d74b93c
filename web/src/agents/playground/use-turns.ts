import { useState } from "react";

/** A message of the conversation, and the run that it has started. */
export interface Turn {
  readonly runId: string;
  /**
   * The message; undefined if this page did not send it. In that case, it is read together with the
   * run.
   */
  readonly input: string | undefined;
  /** Version of the agent, for a draft the one on which it is based; undefined like `input`. */
  readonly version?: number;
  readonly isDraft?: boolean;
}

/**
 * Maximum number of messages in the conversation. Older ones are removed from it, but their runs
 * are not deleted.
 */
const maxTurns = 20;

const keyOf = (agentId: string) => `beckon.playground.${agentId}`;

/** Returns the messages that this tab has sent to the agent. They survive a reload. */
export function useTurns(agentId: string) {
  const [turns, setTurns] = useState(() => read(agentId));
  const change = (next: readonly Turn[]) => {
    setTurns(next);
    write(agentId, next);
  };
  return {
    turns,
    add: (turn: Turn) => change([...turns, turn].slice(-maxTurns)),
    clear: () => change([]),
  };
}

function read(agentId: string): readonly Turn[] {
  const text = sessionStorage.getItem(keyOf(agentId)) ?? "";
  return text
    .split(" ")
    .filter((runId) => runId !== "")
    .map((runId) => ({ runId, input: undefined }));
}

function write(agentId: string, turns: readonly Turn[]): void {
  sessionStorage.setItem(keyOf(agentId), turns.map(({ runId }) => runId).join(" "));
}
