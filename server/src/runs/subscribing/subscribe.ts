import type { EventOnWire, OutputEvent } from "@beckon/contract";
import { untilWoken } from "../../base/abort.ts";
import { type Database, pauseIfLost } from "../../base/database/index.ts";
import { readEvents } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { OutputBuffer } from "./output-buffer.ts";
import type { RunPoller } from "./run-pollers.ts";
import type { LiveRuns, Subscribers } from "./subscribers.ts";

const terminal = ["run.finished", "run.failed", "run.cancelled"];

/** Maximum number of events that one query reads for a subscriber that does not stream. */
const maxBatchEvents = 500;

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
  readonly follow?: boolean;
}

/** Options of a subscriber that streams, which also receives the model's output. */
export interface StreamSubscribeOptions extends SubscribeOptions {
  /** Receives the model's output while the run executes in this process. */
  readonly output: OutputBuffer;
}

/**
 * Yields the run's events after `after`, in order and without gaps, once they are committed. Ends
 * after the terminal event, when the run was deleted, or when `signal` aborts; with `follow` also
 * when `RunPollers.close` is called. The events are the same whether this process or another one
 * executes the run; only the delay differs. Does not check access: the caller must have done so.
 *
 * With `output`, also yields the model's output between the events. In that case it also ends if
 * this process is stopping and does not execute the run, and the client can resume at another
 * process. Events are read a few at a time, so that a slow stream does not keep the whole journal
 * in memory.
 */
export function subscribeToRun(
  ports: SubscribePorts,
  run: RunRef,
  options: StreamSubscribeOptions,
): AsyncGenerator<EventOnWire | OutputEvent>;
export function subscribeToRun(
  ports: SubscribePorts,
  run: RunRef,
  options: SubscribeOptions,
): AsyncGenerator<EventOnWire>;
export async function* subscribeToRun(
  ports: SubscribePorts,
  run: RunRef,
  options: SubscribeOptions & Partial<StreamSubscribeOptions>,
): AsyncGenerator<EventOnWire | OutputEvent> {
  const { signal, follow = true, output } = options;
  let { after } = options;
  let poller: RunPoller | undefined;
  if (output !== undefined) ports.subscribers.outputBuffers.add(run, output);
  // Without `follow`, reading continues even while this process is stopping. Otherwise the caller
  // would get only some of the events, and would not know that others are missing.
  const isOver = () => signal.aborted || (follow && ports.subscribers.pollers.closed);
  try {
    while (!isOver()) {
      const outputEvent = output?.take(after);
      if (outputEvent !== undefined) {
        yield outputEvent;
        continue;
      }
      const inMemory = eventsInMemory(ports, run, after, options);
      const isDrained =
        output !== undefined && ports.capacity.isDraining && !ports.live.has(run.runId);
      if (inMemory !== undefined) {
        poller?.unsubscribe();
        poller = undefined;
      } else if (follow && !isDrained && !ports.live.has(run.runId))
        poller ??= ports.subscribers.pollers.subscribe(run.runId);
      const events = inMemory ?? (await read(ports, run, after, options));
      for (const event of events) {
        yield event;
        after = event.seq;
        if (terminal.includes(event.type)) return;
        // The buffer of the caller that started the run can have output before this function is
        // called. If the run has ended by now, the database returns several events at once, and the
        // output between two of them must be yielded here.
        for (let next = output?.take(after); next !== undefined; next = output?.take(after))
          yield next;
      }
      if (events.length > 0) continue;
      if (!follow || isDrained || poller?.isDeleted) return;
      if (inMemory !== undefined) await changed(ports, run, options);
      else await poller?.waitForMore(after, signal);
    }
  } finally {
    poller?.unsubscribe();
    if (output !== undefined) ports.subscribers.outputBuffers.delete(run.runId, output);
  }
}

/**
 * Returns the events after `after` that are in memory; for a stream at most one of them, so that a
 * slow stream does not keep the others in memory. Returns undefined if the events must be read from
 * the database.
 */
function eventsInMemory(
  ports: SubscribePorts,
  run: RunRef,
  after: number,
  { output }: Partial<StreamSubscribeOptions>,
): readonly EventOnWire[] | undefined {
  const live = ports.live.get(run.runId);
  if (live === undefined || after < live.base) return undefined;
  const next = after - live.base;
  return live.events.slice(next, output === undefined ? undefined : next + 1);
}

/**
 * Reads events from the database. If the database is unreachable, returns no events after a pause,
 * so that streams and waiting callers try again.
 * @throws any other error of the database. A subscriber that does not wait for later events
 *   (`follow` is false) and does not stream also gets the error of an unreachable database.
 */
async function read(
  ports: SubscribePorts,
  run: RunRef,
  after: number,
  { follow = true, signal, output }: SubscribeOptions & Partial<StreamSubscribeOptions>,
): Promise<readonly EventOnWire[]> {
  try {
    if (output !== undefined) return await ports.subscribers.sharedReads.read(run, after);
    return await readEvents(ports.database, run, after, maxBatchEvents);
  } catch (thrown) {
    if (!follow && output === undefined) throw thrown;
    await pauseIfLost(thrown, signal);
    return [];
  }
}

/** Resolves when a run that executes in this process may have more events or output. */
function changed(
  ports: SubscribePorts,
  run: RunRef,
  { signal, output }: SubscribeOptions & Partial<StreamSubscribeOptions>,
): Promise<void> {
  const live = ports.live.get(run.runId);
  if (live === undefined || live.closed) return Promise.resolve();
  return untilWoken(signal, (wake) => {
    live.onChange(wake);
    if (output !== undefined) output.wake = wake;
    return () => {
      live.removeListener(wake);
      if (output !== undefined) output.wake = () => {};
    };
  });
}
