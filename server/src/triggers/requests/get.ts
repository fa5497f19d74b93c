import type { ReceivedRequestDetails } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { receivingOf, requireTrigger } from "../trigger.ts";
import { type BodyServices, withBodyHold } from "./body-hold.ts";
import { type RequestInput, requireRequest, toRequestDetails } from "./request.ts";

/**
 * Returns a received request with its query, headers and body. Like the input of a run, these need
 * `runs:read`.
 * @throws ApiError `forbidden`, `not_found`, `unavailable`
 */
export async function getRequest({
  ctx,
  input,
}: {
  ctx: Context & BodyServices;
  input: RequestInput;
}): Promise<ReceivedRequestDetails> {
  permit(ctx, "triggers:read");
  permit(ctx, "runs:read");
  return withBodyHold(ctx, (hold) =>
    inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
      const trigger = await requireTrigger(tx, ctx, input);
      const request = await requireRequest(tx, trigger, input.requestId, hold.growBytes);
      return toRequestDetails(request, receivingOf(trigger));
    }),
  );
}
