import type { EventOnWire } from "@beckon/contract";
import { type Outcome, RunStopped, type StopReason } from "../../engine/index.ts";
import type { RunRef } from "../run.ts";

/**
 * `first`: the run was executed on an earlier attempt before. `repeated`: its process died on its
 * last attempt, in company.
 */
export type LastAttempt = "first" | "repeated";

/**
 * A run that this process executes now: its journal as stored, in memory, and who waits for more of it. Watchers here need no query;
 * when it closes without a terminal event (handed back, taken over), they go on from the database.
 *
 * A class, since each run has one: an object of closures and getters would be a dictionary to V8, many times as large and slower.
 */
export class LiveRun implements RunRef {
  readonly runId: string;
  readonly workspaceId: string;
  /** The last event there was when this process took the run; what came before is in the database only. */
  readonly base: number;
  /** Whether other processes are to be told of what it says. */
  watchedElsewhere: boolean;
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
      watchedElsewhere,
      lastAttempt,
    }: { watchedElsewhere: boolean; lastAttempt?: LastAttempt | undefined },
  ) {
    this.runId = ref.runId;
    this.workspaceId = ref.workspaceId;
    this.base = base;
    this.watchedElsewhere = watchedElsewhere;
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

  /** Takes note of what has become durable. */
  publish(events: readonly EventOnWire[], outcome?: Outcome): void {
    this.#events.push(...events);
    this.#outcome = outcome ?? this.#outcome;
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Calls `listener` once, at the next publish or close. @returns forgets it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #wake(): void {
    const waiting = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of waiting) listener();
  }
}
