import type { EventOnWire } from "@beckon/contract";
import { sleep } from "../base/clock.ts";
import { failureKind } from "../base/database/index.ts";
import type { Following } from "./followers.ts";
import { readEvents } from "./journal-store.ts";
import type { LiveRun } from "./live-run.ts";
import type { RunRef } from "./run.ts";
import type { Runtime } from "./runtime.ts";

const terminal = ["run.finished", "run.failed", "run.cancelled"];

/** Events read from the database at once. */
const pageSize = 500;

export interface WatchOptions {
  readonly after: number;
  readonly signal: AbortSignal;
  /** false: ends after what is durable now. Default true. */
  readonly follow?: boolean;
}

/**
 * The run's events after `after`, in order and without gaps, as they become durable; ends after the terminal one, or when `signal` aborts.
 * Whether this process executes the run or another does makes no difference to what is seen, only to how soon.
 * The caller has checked that the run exists and may be read.
 */
export async function* watchRun(runtime: Runtime, run: RunRef, options: WatchOptions): AsyncGenerator<EventOnWire> {
  const { signal, follow = true } = options;
  let { after } = options;
  let following: Following | undefined;
  try {
    while (!signal.aborted && !runtime.followers.closed) {
      const live = runtime.live.get(run.runId);
      const inMemory = live !== undefined && after >= live.base;
      if (inMemory) {
        following?.leave();
        following = undefined;
      } else if (follow) following ??= runtime.followers.join(run.runId);
      const events = inMemory ? live.events.slice(after - live.base) : await read(runtime, run, after, options);
      for (const event of events) {
        yield event;
        after = event.seq;
        if (terminal.includes(event.type)) return;
      }
      if (events.length > 0) continue;
      if (!follow) return;
      if (inMemory && !live.closed) await changed(live, signal);
      else await following?.more(after, signal);
    }
  } finally {
    following?.leave();
  }
}

/** Who follows does not fail because the database is away for a while: the run is not lost by that, only unheard of. */
async function read(runtime: Runtime, run: RunRef, after: number, { follow = true, signal }: WatchOptions): Promise<EventOnWire[]> {
  try {
    return await readEvents(runtime.database, run, after, pageSize);
  } catch (thrown) {
    if (!follow || failureKind(thrown) !== "lost") throw thrown;
    await sleep(interval, signal).catch(() => {});
    return [];
  }
}

/** Milliseconds between tries while the database is away. */
const interval = 250;

function changed(live: LiveRun, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const forget = live.onChange(done);
    function done() {
      signal.removeEventListener("abort", done);
      forget();
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}
