import type { EventOnWire } from "@beckon/contract";
import { type Outcome, RunStopped, type StopReason } from "../engine/index.ts";
import type { RunRef } from "./run.ts";

/**
 * A run that this process executes now: its journal as stored, in memory, and who waits for more of it. Watchers here need no query;
 * when it closes without a terminal event (handed back, taken over), they go on from the database.
 */
export interface LiveRun extends RunRef {
  /** The last event there was when this process took the run; what came before is in the database only. */
  readonly base: number;
  /** Events after `base`. */
  readonly events: readonly EventOnWire[];
  /** Set with the terminal event. */
  readonly outcome: Outcome | undefined;
  readonly closed: boolean;
  readonly signal: AbortSignal;
  stop(reason: StopReason): void;
  /** Takes note of what has become durable. */
  publish(events: readonly EventOnWire[], outcome?: Outcome): void;
  close(): void;
  /** Calls `listener` once, at the next publish or close. */
  onChange(listener: () => void): () => void;
  /** Whether other processes are to be told of what it says. */
  watchedElsewhere: boolean;
  readonly lastAttempt: boolean;
}

export function createLiveRun(ref: RunRef, base: number, options: { watchedElsewhere: boolean; lastAttempt: boolean }): LiveRun {
  const events: EventOnWire[] = [];
  const listeners = new Set<() => void>();
  const controller = new AbortController();
  let outcome: Outcome | undefined;
  let closed = false;
  const wake = () => {
    const waiting = [...listeners];
    listeners.clear();
    for (const listener of waiting) listener();
  };
  return {
    runId: ref.runId,
    workspaceId: ref.workspaceId,
    base,
    ...options,
    events,
    signal: controller.signal,
    get outcome() {
      return outcome;
    },
    get closed() {
      return closed;
    },
    stop: (reason) => controller.abort(new RunStopped(reason)),
    publish(added, end) {
      events.push(...added);
      outcome = end ?? outcome;
      wake();
    },
    close() {
      closed = true;
      wake();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
