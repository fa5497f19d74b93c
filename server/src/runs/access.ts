import type { Run } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../base/context.ts";
import { ApiError, attempt } from "../base/errors.ts";

/**
 * The agents whose runs an actor can access; undefined if it can access the runs of all agents of
 * the workspace.
 */
export type AccessibleAgents = readonly string[] | undefined;

/**
 * Checks that the actor has `scope`. An agent token has no scopes: it always gives access to the
 * runs of its own agent.
 * @throws ApiError `forbidden` if the actor lacks `scope`.
 */
export function permitRuns(ctx: Context, scope: "runs:read" | "runs:write"): AccessibleAgents {
  if (ctx.actor.kind !== "token") permit(ctx, scope);
  return agentLimit(ctx);
}

/** Returns whether the actor can read what a run contains. */
export function canReadRuns(ctx: Context): boolean {
  return attempt(() => permitRuns(ctx, "runs:read")).ok;
}

/**
 * Returns a run for the response to an actor that has changed or started it. If the actor cannot
 * read runs, input and output are left out, and the message of a mapping error is replaced, because
 * it can contain values of the input.
 */
export function visibleRun(ctx: Context, run: Run): Run {
  if (canReadRuns(ctx)) return run;
  const { error } = run;
  return {
    ...run,
    input: "",
    output: null,
    error: error?.code === "mapping_error" ? { ...error, message: hiddenMistake } : error,
  };
}

/** Error message of a mapping error for actors that cannot read runs. */
export const hiddenMistake =
  "The filter or the message template of the trigger failed. To see why, read the run with the scope runs:read.";

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

/**
 * Returns the error for a start that repeats an event of a trigger's sender, if the run of that
 * event was deleted.
 */
export function deletedRunOfEvent(): ApiError {
  return new ApiError(
    "conflict",
    "The sender's event already has another run, which was deleted. To run the event again, replay its request with POST …/requests/:request_id/replay, or retry with input.",
  );
}
