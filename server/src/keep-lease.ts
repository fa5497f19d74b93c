import { sleep } from "./base/clock.ts";
import { messageOf } from "./base/errors.ts";
import { newId } from "./base/ids.ts";
import { type Runtime, registerProcess, renewLease } from "./runs/index.ts";

export interface Lease {
  stop(): Promise<void>;
}

/**
 * Keeps this process on record as alive, from its main loop and on a connection of its own: a loop that hangs, or is stopped, loses
 * the lease, as it should. Declared dead, the process drops its runs, which others have by then, and goes on under a new id.
 */
export function keepLease(runtime: Runtime, leaseSeconds: number): Lease {
  const stopping = new AbortController();
  const connection = runtime.database.lease;

  async function renew(): Promise<void> {
    if (await renewLease(connection, runtime.processId, leaseSeconds)) return;
    runtime.log.warn({ process_id: runtime.processId }, "this process was declared dead; it drops its runs and goes on under a new id");
    for (const live of runtime.live.values()) live.stop("fenced");
    const id = newId("prc");
    await registerProcess(connection, id, leaseSeconds);
    runtime.processId = id;
  }

  async function keep(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep((leaseSeconds * 1_000) / 6, stopping.signal).catch(() => {});
      if (stopping.signal.aborted) return;
      await renew().catch((thrown) => runtime.log.warn({ reason: messageOf(thrown) }, "the lease could not be renewed; it is tried again"));
    }
  }

  const keeping = keep();
  return {
    async stop() {
      stopping.abort();
      await keeping;
    },
  };
}
