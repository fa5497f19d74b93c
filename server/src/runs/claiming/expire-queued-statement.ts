import type { Database } from "../../base/database/index.ts";
import { isWithoutProcess } from "../../processes/index.ts";
import type { UnexecutedEnd } from "../journal/index.ts";
import { changeInBatches, endStatement, maxRuns } from "./end-statement.ts";

const expired: UnexecutedEnd = {
  status: "failed",
  error: {
    code: "deadline_exceeded",
    message: "The run was queued for 24 hours. Retry it.",
  },
};

/**
 * Returns SQL of the later of two times: `time`, and the end of the last time without any process.
 * Nothing could execute a run in that time, so no run expires because Beckon was stopped or
 * suspended, or because PostgreSQL was unavailable. An end in the future was recorded while the
 * database's clock was ahead. It is left out, because until then no run would expire.
 */
const sinceStart = (time: string) =>
  `greatest(${time}, (select running_since from installation where running_since <= now()))`;

/**
 * Returns the SQL condition that a queued run `r` has been queued for 24 hours, counted from the
 * release if the run was held or a stopping process released it, and at the earliest from
 * `sinceStart`. Claims exclude these runs: the next sweep of a worker, which ends them, can be
 * later than the next claim.
 */
export const isExpired = (r: string) =>
  `${sinceStart(`coalesce(${r}.released_at, ${r}.created_at)`)} < now() - interval '24 hours'`;

/**
 * Statement that ends queued runs that have expired. It ends at most 500 runs, in no order: with an
 * order, each statement would sort all runs that are left. `eventIds` must have at least 500
 * elements. Ends nothing between the end of a time without any process and the first renewal of a
 * lease, which records that end.
 */
export const expireStatement = endStatement(
  "expire-queued",
  expired,
  () => `select id, workspace_id from runs r where status = 'queued' and ${isExpired("r")}
    and not ${isWithoutProcess}
  limit ${maxRuns} for no key update skip locked`,
);

const dropped: UnexecutedEnd = {
  status: "cancelled",
  error: {
    code: "cancelled",
    message:
      "The run was held for 7 days, and was cancelled. If the agent was deleted, restore it. Resume the agent or raise the limit, then retry the run.",
  },
};

/**
 * Statement that cancels runs that have been held for 7 days. It cancels at most 500 runs.
 * `eventIds` must have at least 500 elements. Like `expireStatement`, it ends nothing until a lease
 * is valid after a time without any process.
 */
export const dropHeldStatement = endStatement(
  "drop-held",
  dropped,
  () => `select id, workspace_id from runs
  where status = 'waiting' and ${sinceStart("created_at")} < now() - interval '7 days'
    and not ${isWithoutProcess}
  limit ${maxRuns} for no key update skip locked`,
);

/**
 * Ends the runs that have been queued for 24 hours, since it is unlikely that callers still wait
 * for them, and the runs that have been held for 7 days.
 * @param signal stops the work after the current statement. Default: never.
 * @returns how many runs were ended.
 */
export async function expireQueued(
  database: Database,
  signal?: AbortSignal,
): Promise<{ readonly queued: number; readonly held: number }> {
  return {
    queued: await changeInBatches(database, expireStatement, "ended", { signal }),
    held: await changeInBatches(database, dropHeldStatement, "ended", { signal }),
  };
}
