import { elapsed, pause } from "../base/clock.ts";
import { type Database, isCancelled } from "../base/database/index.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics/index.ts";
import type { Retention } from "../base/retention/index.ts";
import { oldAuditEntries } from "./audit-store.ts";
import { ceilingsOfDeleted } from "./ceilings-store.ts";
import { datedRows } from "./dated-rows-store.ts";
import { oldDeliveries } from "./deliveries-store.ts";
import type { DeleteSome, PrepareDeletion, RowKind } from "./kinds.ts";
import { createPace, type Pace } from "./pace.ts";
import { beginPass, endPass, stillPruning } from "./pass-store.ts";
import { releasingLocks } from "./release-locks-store.ts";
import { requestsOfDeletedTriggers } from "./requests-store.ts";
import { oldRuns } from "./runs-store.ts";
import { expiredSecrets, secretsOfDeletedAgents } from "./secrets-store.ts";
import { oldUsageEntries } from "./usage-store.ts";

/**
 * All deletions, in their order. The deletion of a run also clears the content of its deliveries
 * and received requests. Old ones are deleted before the runs, so that few are left to clear.
 */
const deletions: readonly PrepareDeletion[] = [
  ...datedRows,
  requestsOfDeletedTriggers,
  oldAuditEntries,
  oldDeliveries,
  oldRuns,
  oldUsageEntries,
  secretsOfDeletedAgents,
  ...expiredSecrets,
  ceilingsOfDeleted,
];

/**
 * Maximum rows of a deletion's first batch. It is low, because each run is deleted together with
 * many rows of other tables.
 */
const firstBatchRows = 50;
const maxBatchRows = 1_000;
/**
 * A batch that took longer than `max` is followed by a smaller one. A batch that took less than
 * `min` is followed by a larger one.
 */
const batchMs = { min: 8, max: 30 };
/**
 * After a batch that took much longer than this, the next one has so few rows that it should take
 * this time: event streams wait for the transaction of a batch.
 */
const slowBatchMs = 1_000;

export interface PruneServices {
  readonly database: Pick<Database, "engine">;
  readonly retention: Retention;
  /** This process. Its id changes if it is declared dead, so each pass reads the id. */
  readonly process: { readonly id: string };
  readonly metrics: Pick<Metrics, "count">;
  readonly log: Pick<Log, "write">;
}

/**
 * Deletes what is older than its retention, if a pass is due and no other process makes one.
 * Deletes in small batches with pauses between them. Each batch is one statement: whenever the
 * process exits, every row is deleted together with the rows that belong to it, or not at all.
 * @param options `signal` stops the deletion after the current batch. `intervalSeconds`: time from
 *   the end of a pass to the next one. `pace` returns how long to pause after a batch. By default,
 *   the pause depends on how many rows are created, so that other work is slowed down little.
 */
export async function prune(
  { database: { engine }, retention, process, metrics, log }: PruneServices,
  {
    signal,
    pace = createPace(engine, retention),
    intervalSeconds,
  }: { signal: AbortSignal; pace?: Pace; intervalSeconds: number },
): Promise<void> {
  const processId = process.id;
  const beganAt = await beginPass(engine, processId, intervalSeconds);
  if (beganAt === undefined) return;
  const deletedRows = new Map<RowKind, number>();
  const startedAt = elapsed();
  let end: End = "stopped";
  try {
    end = await deleteAll(beganAt);
  } finally {
    // If `endPass` fails, the database still names this process as the one that deletes. Other
    // processes then begin no pass until this one has exited.
    await endPass(engine, processId, end !== "stopped");
    const rows = [...deletedRows.values()].reduce((sum, each) => sum + each, 0);
    if (rows > 0)
      log.write("rows older than their retention were deleted", {
        rows,
        runs: deletedRows.get("runs") ?? 0,
        duration_ms: Math.round(elapsed() - startedAt),
        complete: end === "complete",
      });
  }

  async function deleteAll(now: Date): Promise<End> {
    const connection = releasingLocks(engine);
    let end: End = "complete";
    for (const prepare of deletions) {
      const deleteSome = prepare(connection, retention, now);
      const endOfKind = deleteSome === undefined ? "complete" : await deleteBatches(deleteSome);
      if (endOfKind === "stopped") return "stopped";
      if (endOfKind === "too slow") end = "too slow";
    }
    return end;
  }

  /**
   * PostgreSQL cancels a batch that exceeds the statement timeout. The batch is then repeated with
   * fewer rows. A batch of one row is left out.
   */
  async function deleteBatches(deleteSome: DeleteSome): Promise<End> {
    let end: End = "complete";
    let keepsNext = false;
    for (let max = firstBatchRows; ; ) {
      if (signal.aborted || !(await stillPruning(engine, processId))) return "stopped";
      const start = elapsed();
      const batch = await deleteSome(max, { keepsNext }).catch((thrown: unknown) => {
        if (isCancelled(thrown)) return undefined;
        throw thrown;
      });
      const tookMs = elapsed() - start;
      if (batch === undefined) {
        log.write("deleting old rows took too long", {
          max_rows: max,
          duration_ms: Math.round(tookMs),
        });
        // The deletion cannot leave out single rows.
        if (keepsNext) return "too slow";
        keepsNext = max === 1;
        max = fewerRows(max, tookMs);
        continue;
      }
      if (keepsNext) end = "too slow";
      keepsNext = false;
      const { deleted, hasMore, endsWorkspace = false } = batch;
      for (const [kind, rows] of Object.entries(deleted) as [RowKind, number][]) {
        deletedRows.set(kind, (deletedRows.get(kind) ?? 0) + rows);
        if (rows > 0) metrics.count("beckon_retention_rows_deleted_total", [kind], rows);
      }
      if (!hasMore) return end;
      // `deleted` is empty if `inEachWorkspace` found only workspaces without old rows. Then the
      // duration says nothing about the size of a batch, and no pause is needed.
      if (Object.keys(deleted).length === 0) continue;
      if (tookMs > batchMs.max) max = fewerRows(max, tookMs);
      else if (tookMs < batchMs.min) max = Math.min(maxBatchRows, max * 2);
      if (endsWorkspace) max = Math.min(max, firstBatchRows);
      await pause(await pace(deleted), signal);
    }
  }
}

/**
 * How a pass ended.
 * - `too slow`: PostgreSQL cancelled batches of one row. The next pass tries them again.
 * - `stopped`: `signal` stopped the pass, or another process has taken it over.
 */
type End = "complete" | "too slow" | "stopped";

/** Returns the size of the batch after one of `max` rows that took too long. */
function fewerRows(max: number, tookMs: number): number {
  return Math.max(1, Math.floor(max * Math.min(1 / 2, slowBatchMs / tookMs)));
}
