import { agentLimit, type Context, permit } from "../base/context.ts";
import { ApiError } from "../base/errors.ts";

/**
 * Checks that the actor can access runs with `scope`. Agent tokens have no scopes: they can access
 * the runs of their own agent.
 * @returns the agents that the actor is limited to; undefined if it is not limited.
 * @throws ApiError `forbidden`
 */
export function permitRuns(
  ctx: Context,
  scope: "runs:read" | "runs:write",
): readonly string[] | undefined {
  if (ctx.actor.kind !== "token") permit(ctx, scope);
  return agentLimit(ctx);
}

/** Returns the error for a run that does not exist, or that the actor cannot see. */
export function noRun(): ApiError {
  return new ApiError("not_found", "There is no run with this id that this credential can see.");
}

/**
 * Returns the error for a repeated request whose run was deleted. It does not start a second run,
 * since the first one may already have had effects.
 */
export function deletedRun(): ApiError {
  return new ApiError(
    "conflict",
    "The run that this request started was deleted. To start another one, send the request with a new Idempotency-Key.",
  );
}
