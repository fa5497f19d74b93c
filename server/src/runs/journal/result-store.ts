import type { LimitReached, RunErrorCode } from "@beckon/contract";
import type { Database } from "../../base/database/index.ts";
import type { Outcome } from "../../engine/index.ts";
import type { RunRef } from "../run.ts";

/**
 * The columns with the token usage and the cost of a run: strings as `pg` reads them, numbers if
 * they come from JSON.
 */
export interface SpentColumns {
  readonly input_tokens: string | number;
  readonly output_tokens: string | number;
  readonly cached_input_tokens: string | number;
  readonly cache_write_tokens: string | number;
  readonly reasoning_tokens: string | number;
  /** Whether the usage is estimated; null if the run has not ended. */
  readonly usage_estimated: boolean | null;
  /** Null if the run has not ended, or if the price of one of its model calls was unknown. */
  readonly cost_micros: string | number | null;
}

interface ResultRow extends SpentColumns {
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly output: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly limit_reached: LimitReached | null;
}

/** Returns the token usage and the cost in a row. */
export function spentOf(row: SpentColumns): Pick<Outcome, "usage" | "cost_micros"> {
  const cacheWrite = Number(row.cache_write_tokens);
  const reasoning = Number(row.reasoning_tokens);
  return {
    usage: {
      input_tokens: Number(row.input_tokens),
      output_tokens: Number(row.output_tokens),
      cached_input_tokens: Number(row.cached_input_tokens),
      ...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}),
      ...(reasoning > 0 ? { reasoning_tokens: reasoning } : {}),
      ...(row.usage_estimated ? { estimated: true } : {}),
    },
    cost_micros: row.cost_micros === null ? null : Number(row.cost_micros),
  };
}

/** Returns the run's outcome; undefined if it has not ended or does not exist. */
export async function readOutcome(database: Database, run: RunRef): Promise<Outcome | undefined> {
  const { rows } = await database.engine.query<ResultRow>({
    name: "read-outcome",
    text: `select r.status, e.* from runs r join run_results e on e.run_id = r.id
      where r.id = $1 and r.workspace_id = $2 and r.finished_at is not null`,
    values: [run.runId, run.workspaceId],
  });
  const row = rows[0];
  if (row === undefined) return undefined;
  const spent = spentOf(row);
  if (row.status === "succeeded")
    return { status: "succeeded", output: row.output ?? "", ...spent };
  const error = {
    code: (row.error_code ?? "interrupted") as RunErrorCode,
    message: row.error_message ?? "",
  };
  const limit = row.limit_reached === null ? {} : { limit: row.limit_reached };
  return { status: row.status, error, ...limit, ...spent };
}

/** Returns the run's current status; undefined if it does not exist. */
export async function readStoredStatus(
  database: Database,
  run: RunRef,
): Promise<string | undefined> {
  const { rows } = await database.engine.query<{ status: string }>({
    name: "read-status",
    text: "select status from runs where id = $1 and workspace_id = $2",
    values: [run.runId, run.workspaceId],
  });
  return rows[0]?.status;
}

interface LastSeqRow {
  readonly id: string;
  readonly last_seq: number;
  readonly finished: boolean;
}

/**
 * Returns, for each run, the sequence number of the last event in its journal, and whether the run
 * has ended. Runs that were deleted are missing.
 */
export async function readLastSeqs(
  database: Database,
  runIds: readonly string[],
): Promise<LastSeqRow[]> {
  const { rows } = await database.engine.query<LastSeqRow>({
    name: "read-last-seqs",
    text: "select id, last_seq, finished_at is not null as finished from runs where id = any ($1)",
    values: [runIds],
  });
  return rows;
}
