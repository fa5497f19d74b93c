import { eventData, workspaceEventData } from "@beckon/contract";
import { agentLimit, type Context, canAccessAgent, permit } from "../base/context.ts";
import { ApiError } from "../base/errors.ts";
import type { StoredEvent } from "./store.ts";

/** Which events of its workspace a reader gets. */
export interface Filter {
  /** undefined: all agents. */
  readonly agentIds: readonly string[] | undefined;
  /** undefined: all kinds of run events. Workspace events must be named to be included. */
  readonly kinds: readonly string[] | undefined;
}

/**
 * Narrows the requested filter to what the actor can read: with an agent token the run events of
 * its own agent, with a key all events of its workspace, or of the agents that the key is limited
 * to.
 * @throws ApiError `forbidden` for an agent token that names a workspace event; `not_found` for an
 *   agent that does not exist for the actor.
 */
export function permitFilter(
  ctx: Context,
  requested: { agent_id?: string | undefined; kind?: readonly string[] | undefined },
): Filter {
  const { agent_id, kind } = requested;
  const workspaceKind = kind?.find((each) => each in workspaceEventData);
  if (ctx.actor.kind === "token" && workspaceKind !== undefined) {
    throw new ApiError(
      "forbidden",
      `kind: an agent token cannot read ${workspaceKind}, only run events. Use a workspace key.`,
    );
  }
  if (agent_id === undefined) return { agentIds: agentLimit(ctx), kinds: kind };
  if (!canAccessAgent(ctx, agent_id))
    throw new ApiError("not_found", "There is no agent with this id that this credential can see.");
  return { agentIds: [agent_id], kinds: kind };
}

/**
 * Checks that the actor can read events.
 * @throws ApiError `forbidden`
 */
export function permitEvents(ctx: Context): void {
  if (ctx.actor.kind !== "token") permit(ctx, "runs:read");
}

/**
 * Returns whether a page must read run events, workspace events or both. A page reads a limited
 * number of events, so a table from which the filter selects none is skipped.
 */
export function sourcesOf({ kinds }: Filter): { ofRuns: boolean; ofWorkspace: boolean } {
  return {
    ofRuns: kinds?.some((kind) => kind in eventData) ?? true,
    ofWorkspace: kinds?.some((kind) => kind in workspaceEventData) ?? false,
  };
}

/**
 * Returns whether the filter selects the event. Without `kinds` it selects events of runs only; a
 * workspace event has an empty `runId`.
 */
export function matches(
  { agentIds, kinds }: Filter,
  { agentId, runId, type }: StoredEvent,
): boolean {
  const ofAgents = agentIds === undefined || (agentId !== null && agentIds.includes(agentId));
  return ofAgents && (kinds?.includes(type) ?? runId !== "");
}
