import type { Run } from "@beckon/contract";
import { elapsed, sleep } from "../../base/clock.ts";
import { type Context, principalOf } from "../../base/context.ts";
import { inWorkspace, possiblyExecuted } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { idempotencyScope, type Once } from "../../base/idempotency/index.ts";
import { newId } from "../../base/ids.ts";
import { deletedRun, deletedRunOfEvent, visibleRun } from "../access.ts";
import {
  type RunDetails,
  runDetails,
  type StartPorts,
  type StartRequest,
  startRun,
} from "../starting/index.ts";
import { findRun } from "./store.ts";

/**
 * A run that an operation of a management route starts. `startManaged` checks no permissions, so
 * the operation must check them first.
 */
interface ManagedStart
  extends Pick<
    StartRequest,
    "source" | "contentType" | "payload" | "labels" | "received" | "senderEvent" | "files"
  > {
  readonly agentId: string;
  /** See `runDetails`. `startManaged` adds those that are left out here. */
  readonly details: Omit<Partial<RunDetails>, "keyScope" | "audit">;
  /** The audit entry, with the new run as its target. */
  readonly audit: { readonly action: string; readonly data: object };
}

/** Maximum time for reading the run that was started, while the database cannot be reached. */
const maxReadMs = 5_000;

/** Pause between two attempts to read the run. */
const retryMs = 250;

/**
 * Starts a run with `startRun`, as all entry points do. So the agent's pause, its queue limit and
 * the Idempotency-Key are checked as usual. The run is queued, so that any process with capacity
 * can execute it.
 * @returns the new run or, if the Idempotency-Key or the event id was used before, the run that the
 *   earlier request started. If the actor cannot read runs, it has neither input nor output: see
 *   `visibleRun`.
 * @throws ApiError the errors of `startRun`; `conflict` if the run was deleted in the meantime;
 *   `unavailable` with the id of the run if the run was started, but could not be read.
 */
export async function startManaged(
  ctx: Context & { runs: StartPorts },
  { details, audit, ...request }: ManagedStart,
): Promise<Once<Run>> {
  const { workspaceId, idempotency } = ctx;
  const principal = principalOf(ctx.actor);
  const { runId, replayed, repeatsEvent } = await startRun(ctx.runs, {
    ...request,
    caller: { kind: "authenticated", principal, workspaceId },
    idempotency: idempotency?.binding,
    trace: ctx.trace,
    details: runDetails({
      ...details,
      keyScope: idempotency === undefined ? null : idempotencyScope(ctx, idempotency.route),
      audit: {
        id: newId("aud"),
        address: ctx.address ?? null,
        action: audit.action,
        data: JSON.stringify(audit.data),
      },
    }),
  });
  const run = await readStartedRun(ctx, runId);
  if (run === undefined) throw repeatsEvent ? deletedRunOfEvent() : deletedRun();
  return { data: visibleRun(ctx, run), replayed };
}

/**
 * Reads a run that was started. Tries again while the database cannot be reached: after an error, a
 * caller without an Idempotency-Key could repeat the request and start a second run.
 */
async function readStartedRun(
  { database, workspaceId }: Context,
  runId: string,
): Promise<Run | undefined> {
  for (const deadline = elapsed() + maxReadMs; ; await sleep(retryMs)) {
    try {
      return await inWorkspace(database.tenant, workspaceId, (tx) =>
        findRun(tx, workspaceId, runId, undefined),
      );
    } catch (thrown) {
      if (!(thrown instanceof ApiError && thrown.code === "unavailable")) throw thrown;
      if (elapsed() < deadline) continue;
      throw possiblyExecuted(
        thrown,
        `The run ${runId} was started: read it with GET /api/public/runs/${runId}.`,
      );
    }
  }
}
