import { agentLimit, type Context, permit } from "../base/context.ts";
import { ApiError } from "../base/errors.ts";

/**
 * Checks that the actor has `scope`. An agent token has no scopes: it always gives access to the
 * runs of its own agent.
 * @returns the agents whose runs the actor can access; undefined if the actor can access the runs
 *   of all agents of the workspace.
 * @throws ApiError `forbidden` if the actor lacks `scope`.
 */
export function permitRuns(
  ctx: Context,
  scope: "runs:read" | "runs:write",
): readonly string[] | undefined {
  if (ctx.actor.kind !== "token") permit(ctx, scope);
  return agentLimit(ctx);
}

/**
 * Returns the error for a repeated request if the run that the first request started was deleted.
 * The repeated request starts no second run, since the deleted run may already have had effects.
 */
export function deletedRun(): ApiError {
  return new ApiError(
    "conflict",
    "The run that this request started was deleted. To start another one, send the request with a new Idempotency-Key.",
  );
}
