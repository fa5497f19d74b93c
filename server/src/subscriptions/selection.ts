import { isDeepStrictEqual } from "node:util";
import { type DeliveredEvent, type PayloadStyle, workspaceWideEvents } from "@beckon/contract";
import { agentLimit, type Context, canAccessAgent, scopesBeyond } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { existingAgents } from "../keys/index.ts";
import { existingTriggers } from "./store.ts";

/** What a subscription selects. */
interface Selection {
  readonly event_types: readonly string[];
  readonly agent_ids: readonly string[] | null;
  readonly trigger_ids: readonly string[] | null;
  readonly tags: readonly string[] | null;
}

/** The fields of a body that choose what a subscription selects. */
export const selectionFields = [
  "event_types",
  "agent_ids",
  "trigger_ids",
  "tags",
] as const satisfies readonly (keyof Selection)[];

/**
 * Checks that the agents and triggers exist, and that the actor can get the selected events.
 * @param before the selection before a change. Agents and triggers in it are not checked again,
 *   because they can have been deleted since.
 * @throws ApiError `bad_request` with the ids that do not exist, or that the actor cannot access;
 *   `forbidden` if the actor is limited to agents and the selection is not, or has event types that
 *   can concern other agents.
 */
export async function permitSelection(
  tx: WorkspaceTransaction,
  ctx: Context,
  selection: Selection,
  before?: Selection,
): Promise<void> {
  permitLimited(ctx, selection);
  const agents = added(selection.agent_ids, before?.agent_ids);
  const triggers = added(selection.trigger_ids, before?.trigger_ids);
  if (agents.length > 0) {
    const existing = new Set(await existingAgents(tx, ctx.workspaceId, agents));
    rejectUnknown("agent_ids", "agents", agents, (id) => existing.has(id));
  }
  if (triggers.length > 0) {
    const rows = await existingTriggers(tx, ctx.workspaceId, triggers);
    const existing = new Set(
      rows.filter((row) => canAccessAgent(ctx, row.agent_id)).map(({ id }) => id),
    );
    rejectUnknown("trigger_ids", "triggers", triggers, (id) => existing.has(id));
  }
}

/**
 * Checks that the selection excludes none of its event types: workspace events belong to no run,
 * and `subscription.disabled` also to no agent. A change of other fields does not need this check,
 * because earlier versions have stored such selections.
 * @throws ApiError `bad_request` with the event types that would never be delivered
 */
export function requireDeliverable({ event_types, agent_ids, trigger_ids, tags }: Selection): void {
  const ofRuns = [
    ...(trigger_ids === null ? [] : ["trigger_ids"]),
    ...(tags === null ? [] : ["tags"]),
  ];
  rejectExcluded(
    event_types.filter((type) => ofRuns.length > 0 && !type.startsWith("run.")),
    ofRuns.join(" and "),
  );
  rejectExcluded(
    event_types.filter((type) => agent_ids !== null && type === "subscription.disabled"),
    "agent_ids",
  );
}

function rejectExcluded(types: readonly string[], fields: string): void {
  if (types.length === 0) return;
  const [are, them] = types.length > 1 ? ["are", "them"] : ["is", "it"];
  throw new ApiError(
    "bad_request",
    `event_types: with ${fields}, ${types.join(", ")} ${are} never delivered. Leave ${them} out, or select ${them} in another subscription without ${fields.replace(" and ", " or ")}.`,
  );
}

/** The fields of a subscription that determine which data is sent, and to which URL. */
interface Sending extends Selection {
  readonly url: string;
  readonly payload: PayloadStyle;
}

/**
 * Checks that the actor can read runs if the subscription sends the events' data. Otherwise an
 * actor without `runs:read` could read the outputs of runs by sending them to a URL of its own.
 * @param before the subscription before a change. A change of none of these fields is permitted.
 * @throws ApiError `forbidden`
 */
export function permitPayload(ctx: Context, sending: Sending, before?: Sending): void {
  const isSame =
    before !== undefined &&
    sendingFields.every((field) => isDeepStrictEqual(sending[field], before[field]));
  if (sending.payload === "thin" || isSame || scopesBeyond(ctx, ["runs:read"]).length === 0) return;
  throw new ApiError(
    "forbidden",
    'A subscription with the payload "full" sends the outputs of runs, so this also needs the scope runs:read. Use a key that has it, or send "payload": "thin".',
  );
}

const sendingFields = [
  "url",
  ...selectionFields,
  "payload",
] as const satisfies readonly (keyof Sending)[];

function permitLimited(ctx: Context, { event_types, agent_ids }: Selection): void {
  if (agentLimit(ctx) === undefined) return;
  if (agent_ids === null) {
    throw new ApiError(
      "forbidden",
      "agent_ids: this key is limited to some agents. Set agent_ids to some of these agents.",
    );
  }
  rejectUnknown("agent_ids", "agents", agent_ids, (id) => canAccessAgent(ctx, id));
  const wide = event_types.filter((type) => workspaceWideEvents.includes(type as DeliveredEvent));
  if (wide.length === 0) return;
  throw new ApiError(
    "forbidden",
    `event_types: this key is limited to some agents, and ${wide.join(", ")} can concern more than these. Leave ${wide.length > 1 ? "them" : "it"} out.`,
  );
}

function added(
  ids: readonly string[] | null,
  before: readonly string[] | null | undefined,
): readonly string[] {
  return (ids ?? []).filter((id) => before?.includes(id) !== true);
}

function rejectUnknown(
  field: string,
  noun: string,
  ids: readonly string[],
  isKnown: (id: string) => boolean,
): void {
  const unknown = ids.filter((id) => !isKnown(id));
  if (unknown.length === 0) return;
  const [some, rest] = [unknown.slice(0, 10), unknown.length - 10];
  const names = some.map((id) => JSON.stringify(id)).join(", ");
  throw new ApiError(
    "bad_request",
    `${field}: there are no ${noun} ${names}${rest > 0 ? ` and ${rest} more` : ""} that this credential can see in this workspace. Leave them out.`,
  );
}
