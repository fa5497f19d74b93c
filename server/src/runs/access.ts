import { agentLimit, type Context, permit } from "../base/context.ts";
import { ApiError } from "../base/errors.ts";

/**
 * What an actor may see of runs: an agent token its own agent's, a key with `scope` those of its workspace or of the agents it is
 * limited to.
 * @returns the agents to which the actor is bound, or undefined. @throws ApiError `forbidden`
 */
export function permitRuns(
  ctx: Context,
  scope: "runs:read" | "runs:write",
): readonly string[] | undefined {
  if (ctx.actor.kind !== "token") permit(ctx, scope);
  return agentLimit(ctx);
}

export function noRun(): ApiError {
  return new ApiError("not_found", "There is no run with this id that this credential may see.");
}

/** To the caller whose request has started a run that was deleted since. A repeat starts no second one: nothing runs twice unnoticed. */
export function deletedRun(): ApiError {
  return new ApiError(
    "conflict",
    "The run that this request has started was deleted. To start another one, send the request with a new Idempotency-Key.",
  );
}
