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
const pageSize = 500;

/** What following a run needs of this process. */
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

/** A watcher who may be slow, and can go on elsewhere. */
export interface StreamSubscribeOptions extends SubscribeOptions {
  /** Told what the model says while the run executes here. */
  readonly output: OutputBuffer;
}

/**
 * The run's events after `after`, in order and without gaps, as they become durable; ends after the terminal one, or when `signal` aborts.
 * Whether this process executes the run or another does makes no difference to what is seen, only to how soon.
 * The caller has checked that the run exists and may be read.
 *
 * With a hearer, what the model says comes between the events where it belongs; and it ends when this process stops and another one has the run.
 * It may be slow: little is read ahead of it, and what this process has in memory of a run is not kept for its sake.
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
  let following: RunPoller | undefined;
  if (output !== undefined) ports.subscribers.outputBuffers.add(run, output);
  try {
    while (!signal.aborted && !ports.subscribers.pollers.closed) {
      const said = output?.take(after);
      if (said !== undefined) {
        yield said;
        continue;
      }
      const inMemory = eventsInMemory(ports, run, after, options);
      const leaving =
        output !== undefined && ports.capacity.isDraining && !ports.live.has(run.runId);
      if (inMemory !== undefined) {
        following?.leave();
        following = undefined;
      } else if (follow && !leaving && !ports.live.has(run.runId))
        following ??= ports.subscribers.pollers.join(run.runId);
      const events = inMemory ?? (await read(ports, run, after, options));
      for (const event of events) {
        yield event;
        after = event.seq;
        if (terminal.includes(event.type)) return;
      }
      if (events.length > 0) continue;
      if (!follow || leaving || following?.gone) return;
      if (inMemory !== undefined) await changed(ports, run, options);
      else await following?.more(after, signal);
    }
  } finally {
    following?.leave();
    if (output !== undefined) ports.subscribers.outputBuffers.delete(run.runId, output);
  }
}

/** What this process has in memory after `after`, of which a slow watcher is given one at a time; undefined: it must be read. */
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

/** Who follows or streams does not fail because the database is away for a while: the run is not lost by that, only unheard of. */
async function read(
  ports: SubscribePorts,
  run: RunRef,
  after: number,
  { follow = true, signal, output }: SubscribeOptions & Partial<StreamSubscribeOptions>,
): Promise<readonly EventOnWire[]> {
  try {
    if (output !== undefined) return await ports.subscribers.sharedReads.read(run, after);
    return await readEvents(ports.database, run, after, pageSize);
  } catch (thrown) {
    if (!follow && output === undefined) throw thrown;
    await pauseIfLost(thrown, signal);
    return [];
  }
}

/** Resolves when there may be more of a run that executes here. */
function changed(
  ports: SubscribePorts,
  run: RunRef,
  { signal, output }: SubscribeOptions & Partial<StreamSubscribeOptions>,
): Promise<void> {
  const live = ports.live.get(run.runId);
  if (live === undefined || live.closed) return Promise.resolve();
  return untilWoken(signal, (wake) => {
    const forget = live.onChange(wake);
    if (output === undefined) return forget;
    output.wake = wake;
    return () => {
      output.wake = () => {};
      forget();
    };
  });
}
