import type { EventOnWire } from "@beckon/contract";
import { type Outcome, RunStopped, type StopReason } from "../../engine/index.ts";
import type { RunRef } from "../run.ts";

/**
 * A run on its last attempt. `first`: this is the first time. `repeated`: a process died during its
 * last attempt while executing other such runs too, so the run got the attempt again.
 */
export type LastAttempt = "first" | "repeated";

/**
 * A run that this process executes: the durable events of its journal, in memory, and the listeners
 * for new ones. Subscribers in this process need no queries. If the run closes without a terminal
 * event (it was released or taken over), they continue from the database.
 *
 * A class because there is one per run: V8 would store an object of closures and getters as a
 * dictionary, many times larger and slower.
 */
export class LiveRun implements RunRef {
  readonly runId: string;
  readonly workspaceId: string;
  /**
   * Seq of the last event when this process took the run. Earlier events are in the database only.
   */
  readonly base: number;
  /** Whether other processes must be notified of new events. */
  hasRemoteSubscribers: boolean;
  readonly lastAttempt: LastAttempt | undefined;
  readonly #events: EventOnWire[] = [];
  readonly #controller = new AbortController();
  readonly #listeners = new Set<() => void>();
  #outcome: Outcome | undefined;
  #closed = false;

  constructor(
    ref: RunRef,
    base: number,
    {
      hasRemoteSubscribers,
      lastAttempt,
    }: { hasRemoteSubscribers: boolean; lastAttempt?: LastAttempt | undefined },
  ) {
    this.runId = ref.runId;
    this.workspaceId = ref.workspaceId;
    this.base = base;
    this.hasRemoteSubscribers = hasRemoteSubscribers;
    this.lastAttempt = lastAttempt;
  }

  /** Events after `base`. */
  get events(): readonly EventOnWire[] {
    return this.#events;
  }

  /** Set with the terminal event. */
  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(reason: StopReason): void {
    this.#controller.abort(new RunStopped(reason));
  }

  /** Adds events that are durable, and the outcome if they end the run. Wakes the listeners. */
  publish(events: readonly EventOnWire[], outcome?: Outcome): void {
    this.#events.push(...events);
    this.#outcome = outcome ?? this.#outcome;
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Calls `listener` once, at the next publish or close. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeListener(listener: () => void): void {
    this.#listeners.delete(listener);
  }

  #wake(): void {
    const waiting = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of waiting) listener();
  }
}
