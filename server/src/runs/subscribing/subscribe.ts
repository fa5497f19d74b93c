import { type EventOnWire, endKinds, type OutputEvent } from "@beckon/contract";
import { untilWoken } from "../../base/abort.ts";
import { type Database, pauseIfLost } from "../../base/database/index.ts";
import type { RunRef } from "../run.ts";
import type { OutputBuffer } from "./output-buffer.ts";
import type { RunSubscription } from "./run-poller.ts";
import type { LiveRuns, Subscribers } from "./subscribers.ts";

/** The services that subscribing to a run needs. */
export interface SubscribePorts {
  readonly database: Database;
  readonly live: LiveRuns;
  readonly subscribers: Subscribers;
  readonly capacity: { readonly isDraining: boolean };
}

export interface SubscribeOptions {
  readonly after: number;
  readonly signal: AbortSignal;
  /**
   * Whether to wait for later events. If false, ends after the events that are committed now.
   * Default true.
   */
  readonly waitForMore?: boolean;
  /** Receives the model's output while the run executes in this process. */
  readonly output: OutputBuffer;
}

/**
 * Yields the run's events after `after`, in order and without gaps, once they are committed, and
 * the model's output between them. Ends after the final event, when the run was deleted, or when
 * `signal` aborts; with `waitForMore` also when `RunPoller.close` is called. It also ends if this
 * process is stopping and does not execute the run: the client can resume at another process. The
 * events are the same whether this process or another one executes the run; only the delay differs.
 * Events are read a few at a time, so that a slow stream does not keep the whole journal in memory.
 * Does not check access: the caller must have done so.
 */
export async function* subscribeToRun(
  ports: SubscribePorts,
  run: RunRef,
  options: SubscribeOptions,
): AsyncGenerator<EventOnWire | OutputEvent> {
  const { signal, waitForMore = true, output } = options;
  let { after } = options;
  let subscription: RunSubscription | undefined;
  const isNew = ports.subscribers.outputBuffers.add(run, output);
  const live = ports.live.get(run.runId);
  if (isNew && live?.failedAttempt !== undefined)
    for (const event of live.failedAttempt) output.push(event, live.base + live.events.length);
  // Without `waitForMore`, reading continues even while this process is stopping. Otherwise the
  // caller would get only some of the events, and would not know that others are missing.
  const isOver = () => signal.aborted || (waitForMore && ports.subscribers.poller.closed);
  try {
    while (!isOver()) {
      const outputEvent = output.take(after);
      if (outputEvent !== undefined) {
        yield outputEvent;
        continue;
      }
      const inMemory = eventsInMemory(ports, run, after);
      const isDrained = ports.capacity.isDraining && !ports.live.has(run.runId);
      if (inMemory !== undefined) {
        subscription?.unsubscribe();
        subscription = undefined;
      } else if (waitForMore && !isDrained && !ports.live.has(run.runId))
        subscription ??= ports.subscribers.poller.subscribe(run.runId);
      const events = inMemory ?? (await read(ports, run, after, signal));
      for (const event of events) {
        yield event;
        after = event.seq;
        if (endKinds.some((kind) => kind === event.type)) return;
        // The buffer of the caller that started the run can have output before this function is
        // called. If the run has ended by now, the database returns several events at once, and the
        // output between two of them must be yielded here.
        for (let next = output.take(after); next !== undefined; next = output.take(after))
          yield next;
      }
      if (events.length > 0) continue;
      if (!waitForMore || isDrained || subscription?.isDeleted) return;
      if (inMemory !== undefined) await changed(ports, run, options);
      else await subscription?.waitForMore(after, signal);
    }
  } finally {
    subscription?.unsubscribe();
    ports.subscribers.outputBuffers.delete(run.runId, output);
  }
}

/**
 * Returns the next event after `after` if there is one. Returns only one, so that a slow stream
 * does not keep the others in memory. Returns undefined if the events must be read from the
 * database.
 */
function eventsInMemory(
  ports: SubscribePorts,
  run: RunRef,
  after: number,
): readonly EventOnWire[] | undefined {
  const live = ports.live.get(run.runId);
  if (live === undefined || after < live.base) return undefined;
  const next = after - live.base;
  return live.events.slice(next, next + 1);
}

/**
 * Reads events from the database. If the database is unreachable, returns no events after a pause,
 * so that streams try again.
 * @throws any other error of the database
 */
async function read(
  ports: SubscribePorts,
  run: RunRef,
  after: number,
  signal: AbortSignal,
): Promise<readonly EventOnWire[]> {
  try {
    return await ports.subscribers.sharedReads.read(run, after);
  } catch (thrown) {
    await pauseIfLost(thrown, signal);
    return [];
  }
}

/** Resolves when a run that executes in this process may have more events or output. */
function changed(
  ports: SubscribePorts,
  run: RunRef,
  { signal, output }: SubscribeOptions,
): Promise<void> {
  const live = ports.live.get(run.runId);
  if (live === undefined || live.closed) return Promise.resolve();
  return untilWoken(signal, (wake) => {
    live.onChange(wake);
    output.wake = wake;
    return () => {
      live.removeListener(wake);
      output.wake = () => {};
    };
  });
}
