import type { LimitReached } from "@beckon/contract";
import type { Database } from "../../base/database/index.ts";
import type { KnownSubscriptions } from "../../events/index.ts";
import { groupByCaller } from "./start-callers.ts";
import type { CreatedRun, StartResult, StartRow } from "./start-row.ts";
import { type CallerState, type CheckedRequest, readStarted, sendStarts } from "./start-store.ts";

interface StartOptions {
  /** Whether an earlier call may already have written some of the rows. */
  readonly resent: boolean;
  /**
   * Ids of the workspaces and agents whose runs wait in this process, for memory or for a limit.
   * New runs of these are queued.
   */
  readonly queuedIds: readonly string[];
  /** What this process knows about subscriptions. */
  readonly subscriptions: KnownSubscriptions;
}

/**
 * Checks all requests and writes the runs that start. Returns one result for each row, in the order
 * of `rows`.
 */
export async function startRuns(
  database: Database,
  rows: readonly StartRow[],
  { resent, queuedIds, subscriptions }: StartOptions,
): Promise<StartResult[]> {
  const { callers, callerOf } = groupByCaller(rows);
  const checked = await sendStarts(
    database,
    { rows, callers, callerOf, queuedIds },
    { resent, subscriptions },
  );
  if (checked.results.length !== rows.length)
    throw new Error("the start statement returned no result for a request");
  const known = new Map(checked.callers.map((caller) => [caller.caller, caller]));
  const results = new Array<StartResult | Promise<StartResult>>(rows.length);
  for (const request of checked.results) {
    const index = request.position - 1;
    const [row, caller] = [rows[index], known.get(callerOf[index] ?? 0)];
    if (row === undefined || caller === undefined)
      throw new Error("the start statement returned a result for a request that was not sent");
    results[index] = toResult(database, row, request, caller);
  }
  return Promise.all(results);
}

function toResult(
  database: Database,
  row: StartRow,
  request: CheckedRequest,
  known: CallerState,
): StartResult | Promise<StartResult> {
  const { kind } = request;
  switch (kind) {
    case "running":
    case "queued":
    case "waiting":
    case "failed":
      return {
        kind: "started",
        run: {
          ...toStarted(row, { ...known, status: kind }),
          firstCallReserved: request.first_call_reserved === true,
          firstCallRestricted: request.first_call_restricted === true,
        },
      };
    case "filtered_before":
      return { kind: "filtered" };
    case "started":
    case "contended":
      return writtenBefore(database, row, kind);
    case "replay":
    case "repeated":
      return {
        kind,
        runId: request.replayed_run,
        workspaceId: known.workspace_id,
        agentId: known.agent_id,
      };
    case "limit_reached":
      return {
        kind,
        limit: toLimit(request.limit),
        triggerId: known.trigger_id,
        promptPrefix: known.prompt_prefix,
      };
    case "limit_paused":
      return { kind, limit: toLimit(request.limit) };
    case "body":
      return { kind, workspaceId: known.workspace_id };
    default:
      return { kind };
  }
}

/**
 * Converts `resets_at` to the format of the API. PostgreSQL writes times into JSON in another
 * variant of RFC 3339.
 */
function toLimit({ resets_at, ...limit }: LimitReached): LimitReached {
  return { ...limit, resets_at: resets_at === null ? null : new Date(resets_at).toISOString() };
}

/**
 * Returns the result for a row that an earlier call may have written. If the row's run exists, the
 * result is `started`, even if `kind` is `contended`: the Idempotency-Key is then bound to this
 * row's own run, not to the run of a concurrent request.
 */
async function writtenBefore(
  database: Database,
  row: StartRow,
  kind: "started" | "contended",
): Promise<StartResult> {
  const known = await readStarted(database, row.runId);
  if (known !== undefined) return { kind: "started", run: toStarted(row, known) };
  if (kind === "started") throw new Error(`run ${row.runId} was written and then deleted`);
  return { kind };
}

function toStarted(
  { runId, details }: StartRow,
  known: CallerState & Pick<CreatedRun, "status">,
): CreatedRun {
  return {
    runId,
    workspaceId: known.workspace_id,
    agentId: known.agent_id,
    agentVersion: details?.version ?? known.version,
    providerStamp: known.provider_stamp,
    triggerId: details?.triggerId ?? known.trigger_id,
    promptPrefix: details?.promptPrefix ?? known.prompt_prefix,
    status: known.status,
    limited: known.limited === true,
    firstCallReserved: false,
    firstCallRestricted: false,
  };
}
