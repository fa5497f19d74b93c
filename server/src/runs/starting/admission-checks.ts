import { someSubscriptions } from "../../events/index.ts";
import type { InitialStatus } from "../journal/index.ts";
import type { Parts } from "./start-parts.ts";
import type { StartRejection } from "./start-row.ts";

/**
 * The results that the start statement returns for a request. Those that `StartResult` does not
 * have are:
 * - an initial status: this call has written the run in this status.
 * - `started`: an earlier call has written the run.
 * - `filtered_before`: an earlier call has written the request without a run.
 * - `subscribed`: only of variants without the part `deliveries`. A workspace has a subscription,
 *   so the batch must be sent again with that part.
 */
export type CheckResult =
  | InitialStatus
  | "started"
  | "replay"
  | "repeated"
  | "contended"
  | "limited"
  | "limit_reached"
  | "limit_paused"
  | "filtered"
  | "filtered_before"
  | "listening"
  | "swallowed"
  | "reconfigured"
  | "subscribed"
  | StartRejection;

/**
 * A result, and the SQL condition under which a request gets it. `c.rejection` stands for the
 * result in this column.
 */
type Check = readonly [result: CheckResult | "c.rejection", condition: string];

/** Returns the branch of the `case` that computes the results. */
export const toBranch = ([result, condition]: Check) =>
  `when ${condition} then ${result === "c.rejection" ? result : `'${result}'`}`;

const included = (checks: readonly (Check | false)[]) => checks.filter((check) => check !== false);

/**
 * Returns the checks of each request in their order of precedence, which is the one of the errors
 * in the API's contract. A request gets the result of the first condition that is true, else
 * `start`. The conditions use the tables that the start statement joins for `checked`.
 * @param reached SQL of the limit that the request reaches; null if it reaches none
 */
export function admissionChecks(parts: Parts, reached: string): Check[] {
  const { triggers, details, callbacks, files, limits, received, deliveries, resent } = parts;
  // A run that is held starts even while the agent is paused or a limit is spent.
  const isNotHeld = `not ${received ? "c.holds" : "false"}`;
  return included([
    // An earlier call wrote the row, and its reply was lost.
    ["started", "written.run_id is not null"],
    received && resent && ["filtered_before", "written_request.id is not null"],
    ["c.rejection", "c.rejection is not null"],
    ["body", "c.body = 'unread'"],
    triggers && ["reconfigured", "c.current_version <> c.receiving_version"],
    received && ["listening", "received.id is not null and c.is_listening and c.body = 'good'"],
    received && ["repeated", "seen.run_id is not null"],
    ["body", "r.key is not null and c.body = 'unhashable'"],
    ["replay", "old.run_id is not null and old.body_hash = r.body_hash"],
    ["idempotency_mismatch", "old.body_hash is not null"],
    ["agent_deleted", "c.deleted_at is not null"],
    received && ["swallowed", "received.swallows and c.trigger_id is not null and not c.enabled"],
    ["agent_paused", `c.paused_at is not null and ${isNotHeld}`],
    // Without the part `limits`, a request to a workspace that has limits gets the result `limited`
    // at this point, and is sent again with the part. So its result does not depend on whether this
    // process knew that the workspace has limits.
    limits
      ? ["limit_paused", `c.paused_by is not null and ${isNotHeld}`]
      : ["limited", "c.is_limited"],
    ["trigger_disabled", "c.trigger_id is not null and not c.enabled"],
    ["body", "c.body <> 'good'"],
    // Without the part `deliveries`, the statement must write nothing if there is a subscription:
    // `sendStarts` then sends the batch again with this part.
    received && !deliveries && ["subscribed", `received.is_filtered and ${someSubscriptions}`],
    received && ["filtered", "received.is_filtered"],
    [
      "empty",
      "d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = ''",
    ],
    triggers &&
      callbacks && [
        "callback_not_allowed",
        "r.callback_url is not null and c.source = 'trigger' and not c.allows_callback",
      ],
    callbacks && ["callback_unknown", "r.callback_url is not null and signer.id is null"],
    // The files are deleted with the run, and the input of the retry names their copies.
    details &&
      files && [
        "original_deleted",
        "d.copies_files and not exists (select from runs o where o.id = d.retry_of and o.workspace_id = c.workspace_id)",
      ],
    limits && ["limit_reached", `${reached} is not null and d.error_code is null and ${isNotHeld}`],
    !deliveries && ["subscribed", someSubscriptions],
  ]);
}

/**
 * Returns the checks whether a run exceeds a limit, counting the earlier requests of the batch.
 *
 * They compare with arrays because PostgreSQL prepares the hash table of `in (select …)` for each
 * statement, even if no run is queued.
 */
const batchLimits = ({ received }: Parts): Check[] =>
  included([
    ["agent_busy", "status = 'queued' and run_id = any (array(select run_id from busy))"],
    received && [
      "held_full",
      "status = 'waiting' and run_id = any (array(select run_id from overfull))",
    ],
  ]);

/**
 * Returns SQL of the condition that the run of a request exceeds no limit of `batchLimits`. Only
 * such runs are written. `batchChecks` derives the results from the same list, so a request that
 * gets an error is never written, and one that is acknowledged always is.
 */
export const isAdmittedSql = (parts: Parts): string =>
  batchLimits(parts)
    .map(([, condition]) => `not (${condition})`)
    .join(" and ");

/**
 * Returns the checks of a request that passes `admissionChecks`, in their order of precedence. They
 * depend on the other requests of the batch and on concurrent batches. If none is true, this call
 * has written the run.
 * @param isBound SQL condition that the request's Idempotency-Key and event id are bound to its run
 */
export function batchChecks(parts: Parts, isBound: string): Check[] {
  return [...batchLimits(parts), ["contended", `not (${isBound})`]];
}
