import { eventData, workspaceEventData } from "@beckon/contract";
import { agentLimit, type Context, canAccessAgent, permit } from "../base/context.ts";
import { ApiError } from "../base/errors.ts";
import type { PlacedEvent } from "./store.ts";

/** Which events a reader is shown, of those of its workspace. */
export interface Filter {
  /** undefined: of all agents. */
  readonly agentIds: readonly string[] | undefined;
  /** undefined: of all kinds of runs' events. Workspace events are shown only if they are named. */
  readonly kinds: readonly string[] | undefined;
}

/**
 * What an actor may see of what it asks for: an agent token the events of its own agent's runs, a
 * key with `runs:read` all events of its workspace or of the agents it is limited to.
 * @throws ApiError `forbidden` for an agent token that names a workspace event; `not_found` for an
 *   agent that does not exist for the actor.
 */
export function permitFilter(
  ctx: Context,
  asked: { agent_id?: string | undefined; kind?: readonly string[] | undefined },
): Filter {
  const { agent_id, kind } = asked;
  const ofNone = kind?.find((each) => each in workspaceEventData);
  if (ctx.actor.kind === "token" && ofNone !== undefined) {
    throw new ApiError(
      "forbidden",
      `kind: an agent token cannot read ${ofNone}, only events of runs. Use a workspace key.`,
    );
  }
  if (agent_id === undefined) return { agentIds: agentLimit(ctx), kinds: kind };
  if (!canAccessAgent(ctx, agent_id))
    throw new ApiError("not_found", "There is no agent with this id that this credential may see.");
  return { agentIds: [agent_id], kinds: kind };
}

/** @throws ApiError `forbidden` */
export function permitEvents(ctx: Context): void {
  if (ctx.actor.kind !== "token") permit(ctx, "runs:read");
}

/**
 * Which of both a page reads. Those that the filter never shows are not read, since a page looks at
 * a limited number of events.
 */
export function sourcesOf({ kinds }: Filter): { ofRuns: boolean; ofNone: boolean } {
  return {
    ofRuns: kinds?.some((kind) => kind in eventData) ?? true,
    ofNone: kinds?.some((kind) => kind in workspaceEventData) ?? false,
  };
}

export function matches(
  { agentIds, kinds }: Filter,
  { agentId, runId, type }: PlacedEvent,
): boolean {
  const ofAgents = agentIds === undefined || (agentId !== null && agentIds.includes(agentId));
  return ofAgents && (kinds?.includes(type) ?? runId !== "");
}
