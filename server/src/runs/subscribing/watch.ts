import type { EventOnWire, OutputEvent } from "@beckon/contract";
import { untilWoken } from "../../base/abort.ts";
import { type Database, pauseIfLost } from "../../base/database/index.ts";
import { readEvents } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { Following } from "./followers.ts";
import type { Hearer } from "./hearer.ts";
import type { LiveRuns, Subscribers } from "./subscribers.ts";

const terminal = ["run.finished", "run.failed", "run.cancelled"];

/** Events read from the database at once. */
const pageSize = 500;

/** What following a run needs of this process. */
export interface WatchPorts {
  readonly database: Database;
  readonly live: LiveRuns;
  readonly subscribers: Subscribers;
  readonly capacity: { readonly isDraining: boolean };
}

export interface WatchOptions {
  readonly after: number;
  readonly signal: AbortSignal;
  /** false: ends after what is durable now. Default true. */
  readonly follow?: boolean;
}

/** A watcher who may be slow, and can go on elsewhere. */
export interface StreamOptions extends WatchOptions {
  /** Told what the model says while the run executes here. */
  readonly hearer: Hearer;
}

/**
 * The run's events after `after`, in order and without gaps, as they become durable; ends after the terminal one, or when `signal` aborts.
 * Whether this process executes the run or another does makes no difference to what is seen, only to how soon.
 * The caller has checked that the run exists and may be read.
 *
 * With a hearer, what the model says comes between the events where it belongs; and it ends when this process stops and another one has the run.
 * It may be slow: little is read ahead of it, and what this process has in memory of a run is not kept for its sake.
 */
export function watchRun(
  ports: WatchPorts,
  run: RunRef,
  options: StreamOptions,
): AsyncGenerator<EventOnWire | OutputEvent>;
export function watchRun(
  ports: WatchPorts,
  run: RunRef,
  options: WatchOptions,
): AsyncGenerator<EventOnWire>;
export async function* watchRun(
  ports: WatchPorts,
  run: RunRef,
  options: WatchOptions & Partial<StreamOptions>,
): AsyncGenerator<EventOnWire | OutputEvent> {
  const { signal, follow = true, hearer } = options;
  let { after } = options;
  let following: Following | undefined;
  if (hearer !== undefined) ports.subscribers.hearers.add(run, hearer);
  try {
    while (!signal.aborted && !ports.subscribers.followers.closed) {
      const said = hearer?.take(after);
      if (said !== undefined) {
        yield said;
        continue;
      }
      const inMemory = eventsInMemory(ports, run, after, options);
      const leaving =
        hearer !== undefined && ports.capacity.isDraining && !ports.live.has(run.runId);
      if (inMemory !== undefined) {
        following?.leave();
        following = undefined;
      } else if (follow && !leaving && !ports.live.has(run.runId))
        following ??= ports.subscribers.followers.join(run.runId);
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
    if (hearer !== undefined) ports.subscribers.hearers.delete(run.runId, hearer);
  }
}

/** What this process has in memory after `after`, of which a slow watcher is given one at a time; undefined: it must be read. */
function eventsInMemory(
  ports: WatchPorts,
  run: RunRef,
  after: number,
  { hearer }: Partial<StreamOptions>,
): readonly EventOnWire[] | undefined {
  const live = ports.live.get(run.runId);
  if (live === undefined || after < live.base) return undefined;
  const next = after - live.base;
  return live.events.slice(next, hearer === undefined ? undefined : next + 1);
}

/** Who follows or streams does not fail because the database is away for a while: the run is not lost by that, only unheard of. */
async function read(
  ports: WatchPorts,
  run: RunRef,
  after: number,
  { follow = true, signal, hearer }: WatchOptions & Partial<StreamOptions>,
): Promise<readonly EventOnWire[]> {
  try {
    if (hearer !== undefined) return await ports.subscribers.sharedReads.read(run, after);
    return await readEvents(ports.database, run, after, pageSize);
  } catch (thrown) {
    if (!follow && hearer === undefined) throw thrown;
    await pauseIfLost(thrown, signal);
    return [];
  }
}

/** Resolves when there may be more of a run that executes here. */
function changed(
  ports: WatchPorts,
  run: RunRef,
  { signal, hearer }: WatchOptions & Partial<StreamOptions>,
): Promise<void> {
  const live = ports.live.get(run.runId);
  if (live === undefined || live.closed) return Promise.resolve();
  return untilWoken(signal, (wake) => {
    const forget = live.onChange(wake);
    if (hearer === undefined) return forget;
    hearer.wake = wake;
    return () => {
      hearer.wake = () => {};
      forget();
    };
  });
}
