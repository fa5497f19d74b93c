import { eventData, workspaceEventData } from "@beckon/contract";
import { agentLimit, type Context, canAccessAgent, permit } from "../base/context.ts";
import { ApiError } from "../base/errors.ts";
import type { EventSources, StoredEvent } from "./store.ts";

/** Selects the events of a workspace that a reader gets. */
export interface Filter {
  /** The agents whose events are included; undefined for all events of the workspace. */
  readonly agentIds: readonly string[] | undefined;
  /**
   * The kinds of events that are included; undefined for all kinds of run events. Workspace events
   * are included only if their kind is listed here.
   */
  readonly kinds: readonly string[] | undefined;
}

/**
 * Narrows the requested filter to the events that the actor can read. An agent token can read the
 * run events of its own agent. A key or session can read all events of the workspace. A key that is
 * limited to some agents can read the events of those agents.
 * @throws ApiError `forbidden` if an agent token requests a kind of workspace event; `not_found` if
 *   the actor is limited to other agents than the requested one. Does not check that the agent
 *   exists.
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
 * Returns which of the two event tables a page must read: run events, workspace events or both. A
 * page reads a limited number of events before it filters them. If the filter selects no events of
 * a table, events read from that table would use up the limit and then be discarded.
 */
export function sourcesOf({ kinds }: Filter): EventSources {
  return {
    ofRuns: kinds?.some((kind) => kind in eventData) ?? true,
    ofWorkspace: kinds?.some((kind) => kind in workspaceEventData) ?? false,
  };
}

/**
 * Returns whether the filter selects the event. A filter without `kinds` selects only run events.
 * The `runId` of a workspace event is empty.
 */
export function matches(
  { agentIds, kinds }: Filter,
  { agentId, runId, type }: StoredEvent,
): boolean {
  const ofAgents = agentIds === undefined || (agentId !== null && agentIds.includes(agentId));
  return ofAgents && (kinds?.includes(type) ?? runId !== "");
}
