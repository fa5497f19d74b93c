import type { EventOnWire, OutputEvent } from "@beckon/contract";
import { elapsed } from "../../base/clock.ts";
import { type Outcome, RunStopped, type StopReason } from "../../engine/index.ts";
import type { LastAttempt, RunRef } from "../run.ts";

/**
 * A run that this process executes. It keeps in memory the events that this process has committed
 * to the run's journal, and calls listeners when there are new ones, so subscribers in this process
 * need no database queries. If this process releases the run or another one takes it over, this
 * object is closed without a final event, and its subscribers continue from the database.
 *
 * This is a class because one is created for each run: V8 would store an object of closures and
 * getters as a dictionary, which is many times larger and slower.
 */
export class LiveRun implements RunRef {
  readonly runId: string;
  readonly workspaceId: string;
  /**
   * Sequence number of the last event in the journal when this process began to own the run. Events
   * up to this one are only in the database.
   */
  readonly base: number;
  /**
   * Whether other processes may have subscribers to the run, which this process must then notify of
   * new events.
   */
  hasRemoteSubscribers: boolean;
  readonly lastAttempt: LastAttempt | undefined;
  /** When this process began to own the run, as a value of `elapsed()`. */
  readonly createdAt = elapsed();
  /**
   * The start and the end of the last attempt of a model call, while the run waits because it
   * failed; else undefined. They tell a stream that begins during the wait why the run waits.
   */
  failedAttempt: readonly OutputEvent[] | undefined;
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

  /** The events with sequence numbers above `base`. */
  get events(): readonly EventOnWire[] {
    return this.#events;
  }

  /** The outcome of the run; undefined until the final event is published. */
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

  /**
   * Adds events that were committed, and the outcome of the run if they end it. Calls the
   * listeners.
   */
  publish(events: readonly EventOnWire[], outcome?: Outcome): void {
    // `push(...events)` is not used, because it fails if one write has more events than fit on the
    // call stack.
    for (const event of events) this.#events.push(event);
    this.#outcome = outcome ?? this.#outcome;
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Makes the next `publish` or `close` call `listener`, once. */
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
