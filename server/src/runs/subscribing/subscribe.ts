import type { EventOnWire, OutputEvent } from "@beckon/contract";
import { untilWoken } from "../../base/abort.ts";
import { type Database, pauseIfLost } from "../../base/database/index.ts";
import { readEvents } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { OutputBuffer } from "./output-buffer.ts";
import type { RunPoller } from "./run-pollers.ts";
import type { LiveRuns, Subscribers } from "./subscribers.ts";

const terminal = ["run.finished", "run.failed", "run.cancelled"];

/** Events read from the database at once. */
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
  /** false: ends after what is durable now. Default true. */
  readonly follow?: boolean;
}

/** A subscriber that streams: it can be slow, and can reconnect to another process. */
export interface StreamSubscribeOptions extends SubscribeOptions {
  /** Receives the model's output while the run executes in this process. */
  readonly output: OutputBuffer;
}

/**
 * Yields the run's events after `after`, in order and without gaps, once they are durable. Ends
 * after the terminal event, or when `signal` aborts. The events are the same whether this process
 * executes the run or another one does; only the delay differs. The caller has checked access to
 * the run.
 *
 * With `output`, the model's output is yielded between the events, and the subscription ends when
 * this process stops and does not execute the run: the client can resume at another one. Events are
 * read a few at a time, so that a slow stream does not keep the journal in memory.
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
  try {
    while (!signal.aborted && !ports.subscribers.pollers.closed) {
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
 * Returns the events after `after` that are in memory, for a stream only the next one; undefined if
 * they must be read from the database.
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

/** If the database is lost, a single read fails; streams and waiting callers wait for it. */
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
