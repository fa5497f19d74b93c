import { agentLimit, type Context, mayTouchAgent, permit } from "../base/context.ts";
import { Refusal } from "../base/errors.ts";
import type { PlacedEvent } from "./store.ts";

/** Which events a reader is shown, of those of its workspace. */
export interface Filter {
  /** undefined: of all agents. */
  readonly agentIds: readonly string[] | undefined;
  /** undefined: of all kinds. */
  readonly kinds: readonly string[] | undefined;
}

/**
 * What an actor may see of what it asks for: an agent token its own agent's events, a key with `runs:read` those of its workspace or of the
 * agents it is limited to.
 * @throws Refusal `forbidden`; `not_found` for an agent that does not exist for the actor.
 */
export function permitFilter(ctx: Context, asked: { agent_id?: string | undefined; kind?: readonly string[] | undefined }): Filter {
  const { agent_id, kind } = asked;
  if (agent_id === undefined) return { agentIds: agentLimit(ctx), kinds: kind };
  if (!mayTouchAgent(ctx, agent_id)) throw new Refusal("not_found", "There is no agent with this id that this credential may see.");
  return { agentIds: [agent_id], kinds: kind };
}

/** @throws Refusal `forbidden` */
export function permitEvents(ctx: Context): void {
  if (ctx.actor.kind !== "token") permit(ctx, "runs:read");
}

export function matches({ agentIds, kinds }: Filter, event: PlacedEvent): boolean {
  return (agentIds?.includes(event.agentId) ?? true) && (kinds?.includes(event.type) ?? true);
}
