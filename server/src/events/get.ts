import type { WorkspaceEvent } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../base/context.ts";
import { unavailableIfLost } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { findWorkspaceEvent } from "./store.ts";
import { toWire } from "./wire.ts";

/**
 * Returns a workspace event.
 * @throws ApiError `forbidden`; `not_found`, including when the caller is limited to other agents;
 *   `unavailable` if the database cannot be reached.
 */
export async function getWorkspaceEvent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { eventId: string };
}): Promise<WorkspaceEvent> {
  permit(ctx, "runs:read");
  const found = await findWorkspaceEvent(ctx.database.engine, ctx.workspaceId, input.eventId).catch(
    (thrown) => {
      throw unavailableIfLost(thrown);
    },
  );
  const agentIds = agentLimit(ctx);
  const isVisible = (agentId: string | null) =>
    agentIds === undefined || (agentId !== null && agentIds.includes(agentId));
  if (found !== undefined && isVisible(found.event.agentId))
    return toWire(found.event, found.generation);
  throw new ApiError(
    "not_found",
    "There is no workspace event with this id that this credential can see. To read an event of a run, get /runs/:run_id/events/:seq.",
  );
}
