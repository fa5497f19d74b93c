import { setTimeout as delay } from "node:timers/promises";

/** Requests that are sent at a fixed rate, however fast the responses are. */
export interface SteadyLoad {
  /** Requests that succeeded so far. */
  readonly succeeded: number;
  /** What went wrong, one text for each failed request. */
  readonly failures: readonly string[];
  /** Resolves when all responses have arrived. */
  stop(): Promise<void>;
}

/**
 * Calls `send` at a fixed rate until `stop` is called. Does not wait for earlier calls.
 *
 * @param send sends one request. It gets the number of the request, from 0, and rejects if the
 *   response is not the expected one.
 */
export function startLoad(perSecond: number, send: (index: number) => Promise<void>): SteadyLoad {
  const failures: string[] = [];
  const open = new Set<Promise<void>>();
  let succeeded = 0;
  let stopped = false;

  async function sendOnce(index: number): Promise<void> {
    try {
      await send(index);
      succeeded++;
    } catch (thrown) {
      failures.push(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }

  async function sendRepeatedly(): Promise<void> {
    const beganAt = performance.now();
    for (let sent = 0; !stopped; await delay(5)) {
      const due = ((performance.now() - beganAt) / 1_000) * perSecond;
      while (sent < due) {
        const sending = sendOnce(sent++).finally(() => open.delete(sending));
        open.add(sending);
      }
    }
    await Promise.all(open);
  }

  const sending = sendRepeatedly();
  return {
    get succeeded() {
      return succeeded;
    },
    failures,
    async stop() {
      stopped = true;
      await sending;
    },
  };
}
