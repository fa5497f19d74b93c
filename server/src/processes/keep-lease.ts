import { elapsed, sleep } from "../base/clock.ts";
import type { Database, ProcessMessages } from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { OwnProcess } from "./own-process.ts";
import { recordDeaths, recordLapsed, registerProcess, renewLease } from "./process-store.ts";

/** The lease by which this process counts as alive. */
export interface Lease {
  /** Declares dead who has let its lease lapse, if this process may judge. */
  recordLapsed(): Promise<void>;
  /** Gives the lease back. */
  stop(): Promise<void>;
}

export interface LeaseOptions {
  readonly own: OwnProcess;
  /** A connection of its own, so that no other work holds a renewal up. */
  readonly connection: Database["lease"];
  readonly leaseSeconds: number;
  readonly processMessages: ProcessMessages;
  readonly log: Log;
  /** Stops what this process executes: others have it by now. */
  readonly dropRuns: () => void;
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
export function keepLease({
  own,
  connection,
  leaseSeconds,
  processMessages,
  log,
  dropRuns,
}: LeaseOptions): Lease {
  const leaseMs = leaseSeconds * 1_000;
  const stopping = new AbortController();
  let renewedAt = elapsed();
  let unbrokenSince = renewedAt;

  async function renew(): Promise<void> {
    const askedAt = elapsed();
    const renewed = await renewLease(connection, own.id, leaseSeconds);
    if (renewed === undefined) return startAnew();
    if (own.leaseFailing || elapsed() - renewedAt > leaseMs) unbrokenSince = elapsed();
    own.renewed(true);
    renewedAt = askedAt;
    const wasAlone = processMessages.alone;
    processMessages.alone = renewed.alive < 2;
    // The others may not know yet that they are not alone: that somebody speaks tells them.
    if (wasAlone && !processMessages.alone) processMessages.send({ kind: "queued" });
  }

  async function startAnew(): Promise<void> {
    log.warn(
      { process_id: own.id },
      "this process was declared dead; it drops its runs and goes on under a new id",
    );
    dropRuns();
    const id = newId("prc");
    unbrokenSince = renewedAt = elapsed();
    await registerProcess(connection, id, leaseSeconds);
    own.continueAs(id);
  }

  async function keep(): Promise<void> {
    while (!stopping.signal.aborted) {
      await renew().catch((thrown) => {
        own.renewed(false);
        log.warn(
          { reason: messageOf(thrown) },
          "the lease could not be renewed; it is tried again",
        );
      });
      // Readiness waits for the next success, so a failure is not left standing for long.
      await sleep(
        own.leaseFailing ? Math.min(retryMs, leaseMs / 6) : leaseMs / 6,
        stopping.signal,
      ).catch(() => {});
    }
  }

  const keeping = keep();
  return {
    async recordLapsed() {
      const now = elapsed();
      if (own.leaseFailing || now - unbrokenSince < leaseMs || now - renewedAt > leaseMs) return;
      const dead = await recordLapsed(connection, own.id);
      if (dead.length > 0)
        log.warn({ process_ids: dead }, "processes let their leases lapse and were declared dead");
    },
    async stop() {
      stopping.abort();
      await keeping;
      await recordDeaths(connection, [own.id], "").catch(() => {});
    },
  };
}
