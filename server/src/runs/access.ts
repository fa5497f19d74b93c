import { type Context, permit } from "../base/context.ts";
import { Refusal } from "../base/errors.ts";

/**
 * What an actor may see of a run: an agent token its own agent's runs, a key with `scope` all of its workspace.
 * @returns the agent to which the actor is bound, or undefined. @throws Refusal `forbidden`
 */
export function permitRuns(ctx: Context, scope: "runs:read" | "runs:write"): string | undefined {
  if (ctx.actor.kind === "token") return ctx.actor.agentId;
  permit(ctx, scope);
  return undefined;
}

export function noRun(): Refusal {
  return new Refusal("not_found", "There is no run with this id that this credential may see.");
}
