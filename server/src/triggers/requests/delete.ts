import { record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { requireTrigger } from "../trigger.ts";
import { missingRequest, type RequestInput } from "./request.ts";
import { deleteRequestRow, requestsOf } from "./store.ts";

/**
 * Deletes a received request with its query, headers and body. Its run stays, and so does the id of
 * its event: if the event has a run, the event starts no second one.
 * @throws ApiError `forbidden`, `not_found`
 */
export async function deleteRequest({
  ctx,
  input,
}: {
  ctx: Context;
  input: RequestInput;
}): Promise<void> {
  permit(ctx, "triggers:write");
  await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const trigger = await requireTrigger(tx, ctx, input);
    const deleted = await deleteRequestRow(tx, requestsOf(trigger), input.requestId);
    if (deleted === undefined) throw missingRequest();
    await record(tx, ctx, {
      action: "trigger.delete_request",
      target: trigger.id,
      data: { request_id: input.requestId, ...deleted },
    });
  });
}
