import type { Run } from "@beckon/contract";
import { type Context, principalOf } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import type { Once } from "../../base/idempotency/index.ts";
import { newId } from "../../base/ids.ts";
import { deletedRun } from "../access.ts";
import {
  type RunDetails,
  type StartPorts,
  type StartRequest,
  startRun,
} from "../starting/index.ts";
import { findRun } from "./store.ts";

/** A run that a management route starts. The route has checked the actor's permissions. */
interface ManagedStart
  extends Pick<StartRequest, "source" | "contentType" | "payload" | "labels" | "received"> {
  readonly agentId: string;
  /** `initial` is by default `ready`. */
  readonly details: Omit<RunDetails, "keyScope" | "audit" | "initial"> &
    Partial<Pick<RunDetails, "initial">>;
  /** The audit entry, with the new run as its target. */
  readonly audit: { readonly action: string; readonly data: object };
}

/**
 * Starts a run with `startRun`, as all entry points do. So the agent's pause, its queue limit and
 * the Idempotency-Key are checked as usual. The run is queued, so that any process with capacity
 * can execute it.
 * @returns the new run or, if the Idempotency-Key was used before, the run that the earlier request
 *   started.
 * @throws ApiError the errors of `startRun`; `conflict` if the run was deleted in the meantime.
 */
export async function startManaged(
  ctx: Context & { runs: StartPorts },
  { details, audit, ...request }: ManagedStart,
): Promise<Once<Run>> {
  const { workspaceId, idempotency } = ctx;
  const principal = principalOf(ctx.actor);
  const { runId, replayed } = await startRun(ctx.runs, {
    ...request,
    caller: { kind: "member", principal, workspaceId },
    idempotency: idempotency?.binding,
    trace: ctx.trace,
    details: {
      initial: "ready",
      ...details,
      keyScope: idempotency === undefined ? null : `${principal} ${idempotency.route}`,
      audit: {
        id: newId("aud"),
        address: ctx.address ?? null,
        action: audit.action,
        data: JSON.stringify(audit.data),
      },
    },
  });
  const run = await inWorkspace(ctx.database.tenant, workspaceId, (tx) =>
    findRun(tx, workspaceId, runId, undefined),
  );
  if (run === undefined) throw deletedRun();
  return { data: run, replayed };
}
