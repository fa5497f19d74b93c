import type { EventOnWire } from "@beckon/contract";
import { readEvents } from "./journal-store.ts";
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
  while (!signal.aborted) {
    const live = runtime.live.get(run.runId);
    const inMemory = live !== undefined && after >= live.base;
    const events = inMemory ? live.events.slice(after - live.base) : await readEvents(runtime.database, run, after, pageSize);
    for (const event of events) {
      yield event;
      after = event.seq;
      if (terminal.includes(event.type)) return;
    }
    if (events.length > 0) continue;
    if (!follow) return;
    if (!inMemory) await runtime.followers.follow(run.runId, after, signal);
    else if (!live.closed) {
      await new Promise<void>((resolve) => {
        const forget = live.onChange(done);
        function done() {
          signal.removeEventListener("abort", done);
          forget();
          resolve();
        }
        signal.addEventListener("abort", done, { once: true });
      });
    }
  }
}
