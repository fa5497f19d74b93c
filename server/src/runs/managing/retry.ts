import { type Run, retryRunBody } from "@beckon/contract";
import { agentLimit, type Context, permit, principalOf } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError, attempt, type Result } from "../../base/errors.ts";
import type { Once } from "../../base/idempotency/index.ts";
import { newId } from "../../base/ids.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { deletedRun, noRun } from "../access.ts";
import { type RunDetails, type StartPorts, startRun } from "../starting/index.ts";
import { type RetriedRun, readRetried } from "./retry-store.ts";
import { findRun } from "./store.ts";

/**
 * Starts a new run with the payload of a run that has ended, and with the agent's current version
 * or the version of that run. The agent's pause, its queue limit and the Idempotency-Key are
 * checked as for every start, but the trigger of the original run may be disabled or deleted. The
 * new run is queued, so that any process with capacity can execute it.
 *
 * @returns the new run or, if the Idempotency-Key was used before, the run that the earlier request
 *   started.
 * @throws ApiError `forbidden`, `not_found`, `conflict`, and the errors of `startRun`.
 */
export async function retryRun({
  ctx,
  input,
}: {
  ctx: Context & { runs: StartPorts };
  input: { runId: string; body: UnparsedBody };
}): Promise<Once<Run>> {
  permit(ctx, "runs:write");
  const { workspaceId } = ctx;
  const retried = await inWorkspace(ctx.database.tenant, workspaceId, (tx) =>
    readRetried(tx, { workspaceId, runId: input.runId, agentIds: agentLimit(ctx) }),
  );
  if (retried === undefined) throw noRun();
  const body = attempt(() => parseBody(retryRunBody, input.body, {}));
  const { runId, replayed } = await startRun(ctx.runs, {
    source: retried.source,
    caller: { kind: "member", principal: principalOf(ctx.actor), workspaceId },
    agentId: retried.agentId,
    contentType: retried.contentType,
    idempotency: ctx.idempotency?.binding,
    payload: payloadOf(retried, body),
    details: detailsOf(ctx, retried, body.ok ? body.value.version : "current"),
  });
  return { data: await read(ctx, runId), replayed };
}

function payloadOf({ payload, ended }: RetriedRun, body: Result<unknown>): Result<string> {
  if (!body.ok) return body;
  if (ended) return { ok: true, value: payload };
  const error = new ApiError(
    "conflict",
    "This run has not ended. Retry it once its finished_at is set, or cancel it first.",
  );
  return { ok: false, error };
}

function detailsOf(ctx: Context, retried: RetriedRun, version: "current" | "original"): RunDetails {
  return {
    version: version === "original" ? retried.agentVersion : null,
    triggerId: retried.triggerId,
    promptPrefix: retried.promptPrefix,
    retryOf: retried.runId,
    keyScope:
      ctx.idempotency === undefined ? null : `${principalOf(ctx.actor)} ${ctx.idempotency.route}`,
    audit: {
      id: newId("aud"),
      address: ctx.address ?? null,
      action: "run.retry",
      data: JSON.stringify({ retry_of: retried.runId, version }),
    },
    initial: "ready",
  };
}

/**
 * Returns the run that a retry has started.
 * @throws ApiError `conflict` if the run was deleted meanwhile.
 */
async function read(ctx: Context, runId: string): Promise<Run> {
  const run = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    findRun(tx, ctx.workspaceId, runId, undefined),
  );
  if (run === undefined) throw deletedRun();
  return run;
}
