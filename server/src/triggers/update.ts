import { type Trigger, updateTriggerBody } from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { updateTriggerRow } from "./store.ts";
import { requireTriggerForChange, type TriggerInput, toTrigger } from "./trigger.ts";

/**
 * Changes a trigger's name or prompt prefix, or enables or disables it. After the response, calls
 * of a disabled trigger's URL are rejected.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function updateTrigger({
  ctx,
  input,
}: {
  ctx: Context;
  input: TriggerInput & { body: UnparsedBody };
}): Promise<Trigger> {
  permit(ctx, "triggers:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTriggerForChange(tx, ctx, input);
    const body = parseBody(updateTriggerBody, input.body);
    const change = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== undefined),
    );
    const changed = await updateTriggerRow(tx, row, change);
    await record(tx, ctx, {
      action: "trigger.update",
      target: row.id,
      data: changes(toTrigger(row), toTrigger(changed)),
    });
    return toTrigger(changed);
  });
}
