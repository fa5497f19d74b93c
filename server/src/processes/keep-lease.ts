import { elapsed, pause } from "../base/clock.ts";
import type { Database, ProcessMessages } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics/index.ts";
import type { OwnProcess } from "./own-process.ts";
import {
  recordDeaths,
  recordDrain,
  recordExpired,
  registerProcess,
  renewLease,
} from "./process-store.ts";

/**
 * The lease of this process. Other processes declare this process dead if it does not renew the
 * lease in time.
 */
export interface Lease {
  /**
   * Declares processes with expired leases dead. Does nothing unless this process has held its own
   * lease for at least one lease period without a failed renewal.
   * @returns whether processes were declared dead.
   */
  recordExpired(): Promise<boolean>;
  /**
   * Records, in the background, that this process executes no more queued runs. If this fails,
   * other processes that stop at the same time wait longer than necessary.
   */
  recordDrain(): void;
  /**
   * Stops renewing the lease, and records that this process is dead, so that other processes do not
   * wait until the lease expires before they resume its runs.
   */
  stop(): Promise<void>;
}

export interface LeaseOptions {
  readonly own: OwnProcess;
  /** A connection that is used only for the lease, so that no other query delays a renewal. */
  readonly connection: Database["lease"];
  readonly leaseSeconds: number;
  readonly processMessages: ProcessMessages;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "count">;
  /**
   * Stops all runs of this process. Called when this process was declared dead, since other
   * processes may own the runs now.
   */
  readonly dropRuns: () => void;
  /** Called with the new id when this process continues under it. */
  readonly onNewId: (id: string) => void;
  /** Returns whether this process executes queued runs. */
  readonly acceptsRuns: () => boolean;
}

/** Maximum time between a failed renewal and the next one. */
const retryMs = 1_000;

/**
 * Renews the lease of this process until `stop` is called. The main event loop does the renewals,
 * so that a process whose event loop hangs loses its lease. If this process was declared dead, it
 * drops its runs, which other processes may own by then, and continues under a new id.
 *
 * A process declares others dead only after it has held its own lease for one lease period without
 * a failed renewal. After a database outage, or after the database's clock was set forward, all
 * leases may have expired, so every process is given one lease period to renew its own. After the
 * clock was set back, leases expire too late until they are renewed. If a lease still expires too
 * late after one lease period, its process has not renewed it, and is declared dead.
 */
export function keepLease({
  own,
  connection,
  leaseSeconds,
  processMessages,
  log,
  metrics,
  dropRuns,
  onNewId,
  acceptsRuns,
}: LeaseOptions): Lease {
  const leaseMs = leaseSeconds * 1_000;
  own.beginLease(leaseMs);
  const stopping = new AbortController();
  let renewedAt = elapsed();
  let heldSince = renewedAt;
  let renewal = Promise.resolve();

  async function renew(): Promise<void> {
    const sentAt = elapsed();
    const renewed = await renewLease(connection, own.id, leaseSeconds);
    if (renewed === undefined) return registerAgain();
    if (own.isLeaseFailing || !renewed.wasRegular || elapsed() - renewedAt > leaseMs)
      heldSince = elapsed();
    own.recordRenewal(sentAt);
    renewedAt = sentAt;
    const wasAlone = processMessages.alone;
    processMessages.setAlone(renewed.alive < 2);
    // While the `alone` of a process is true, the process knows of no other process and sends no
    // messages. It sets `alone` to false when it receives a message. So this message makes the
    // other processes send messages to this one at once, and not only after their next renewal.
    if (wasAlone && !processMessages.alone) processMessages.send({ kind: "queued" });
  }

  async function registerAgain(): Promise<void> {
    log.write("this process was declared dead; it drops its runs and continues under a new id", {
      process_id: own.id,
    });
    dropRuns();
    const id = newId("prc");
    heldSince = renewedAt = elapsed();
    await registerProcess(connection, id, leaseSeconds, acceptsRuns());
    own.continueAs(id, renewedAt);
    onNewId(id);
  }

  async function renewUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      renewal = renew().catch((thrown) => {
        own.recordFailedRenewal();
        log.outages.database.failed(thrown);
        metrics.count("beckon_lease_renewals_failed_total", []);
      });
      await renewal;
      // This process reports that it is not ready until a renewal succeeds, so after a failed
      // renewal the next one follows sooner.
      await pause(
        own.isLeaseFailing ? Math.min(retryMs, leaseMs / 6) : leaseMs / 6,
        stopping.signal,
      );
    }
  }

  const renewing = renewUntilStopped();
  return {
    async recordExpired() {
      // If a renewal is in progress, only its response shows whether the lease of this process had
      // already expired. If it had, this process must not declare others dead yet.
      await renewal;
      const now = elapsed();
      if (own.isLeaseFailing || now - heldSince < leaseMs || now - renewedAt > leaseMs)
        return false;
      const heldSeconds = (now - heldSince) / 1_000;
      const dead = await recordExpired(connection, own.id, leaseSeconds, heldSeconds);
      if (dead.length === 0) return false;
      metrics.count("beckon_processes_declared_dead_total", [], dead.length);
      log.write("processes with expired leases were declared dead", { process_ids: dead });
      return true;
    },
    recordDrain: () => void recordDrain(connection, own.id).catch(() => {}),
    async stop() {
      stopping.abort();
      await renewing;
      await recordDeaths(connection, [own.id], "").catch(() => {});
    },
  };
}
