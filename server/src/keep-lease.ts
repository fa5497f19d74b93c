import { elapsed, sleep } from "./base/clock.ts";
import { messageOf } from "./base/errors.ts";
import { newId } from "./base/ids.ts";
import { type Runtime, recordDeaths, recordLapsed, registerProcess, renewLease } from "./runs/index.ts";

export interface Lease {
  /** Declares dead who has let its lease lapse, if this process may judge. */
  recordLapsed(): Promise<void>;
  /** Gives the lease back. */
  stop(): Promise<void>;
}

/** Between tries of a renewal that fails. */
const retryMs = 1_000;

/**
 * Keeps this process on record as alive, from its main loop and on a connection of its own: a loop that hangs, or is stopped, loses
 * the lease, as it should. Declared dead, the process drops its runs, which others may have by then, and goes on under a new id.
 *
 * It judges others only after it has held its own lease unbroken for one lease's length: after the database was away for longer than a lease
 * all have lapsed, and each needs the time to renew. A renewal that failed breaks it too: others may have lapsed in an outage that this
 * process outlasted.
 */
export function keepLease(runtime: Runtime, leaseSeconds: number): Lease {
  const { lease: connection } = runtime.database;
  const leaseMs = leaseSeconds * 1_000;
  const stopping = new AbortController();
  let renewedAt = elapsed();
  let unbrokenSince = renewedAt;

  async function renew(): Promise<void> {
    const askedAt = elapsed();
    const renewed = await renewLease(connection, runtime.processId, leaseSeconds);
    if (renewed === undefined) return startAnew();
    if (runtime.leaseFailing || elapsed() - renewedAt > leaseMs) unbrokenSince = elapsed();
    runtime.leaseFailing = false;
    renewedAt = askedAt;
    const { wakeUps } = runtime;
    const wasAlone = wakeUps.alone;
    wakeUps.alone = renewed.alive < 2;
    // The others may not know yet that they are not alone: that somebody speaks tells them.
    if (wasAlone && !wakeUps.alone) wakeUps.tell({ kind: "queued" });
  }

  async function startAnew(): Promise<void> {
    runtime.log.warn({ process_id: runtime.processId }, "this process was declared dead; it drops its runs and goes on under a new id");
    for (const live of runtime.live.values()) live.stop("fenced");
    const id = newId("prc");
    unbrokenSince = renewedAt = elapsed();
    await registerProcess(connection, id, leaseSeconds);
    runtime.processId = id;
  }

  async function keep(): Promise<void> {
    while (!stopping.signal.aborted) {
      await renew().catch((thrown) => {
        runtime.leaseFailing = true;
        runtime.log.warn({ reason: messageOf(thrown) }, "the lease could not be renewed; it is tried again");
      });
      // Readiness waits for the next success, so a failure is not left standing for long.
      await sleep(runtime.leaseFailing ? Math.min(retryMs, leaseMs / 6) : leaseMs / 6, stopping.signal).catch(() => {});
    }
  }

  const keeping = keep();
  return {
    async recordLapsed() {
      const now = elapsed();
      if (runtime.leaseFailing || now - unbrokenSince < leaseMs || now - renewedAt > leaseMs) return;
      const dead = await recordLapsed(connection, runtime.processId);
      if (dead.length > 0) runtime.log.warn({ process_ids: dead }, "processes let their leases lapse and were declared dead");
    },
    async stop() {
      stopping.abort();
      await keeping;
      await recordDeaths(connection, [runtime.processId], "").catch(() => {});
    },
  };
}
