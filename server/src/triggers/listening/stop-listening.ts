import { record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { updateListeningRow } from "../store.ts";
import { requireTriggerForChange, type TriggerInput } from "../trigger.ts";

/**
 * Stops listening. Does nothing if the trigger does not listen.
 * @throws ApiError `forbidden`, `not_found`
 */
export async function stopListening({
  ctx,
  input,
}: {
  ctx: Context;
  input: TriggerInput;
}): Promise<void> {
  permit(ctx, "triggers:write");
  await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTriggerForChange(tx, ctx, input);
    if (row.listening_until === null) return;
    await updateListeningRow(tx, row, null);
    await record(tx, ctx, { action: "trigger.stop_listening", target: row.id });
  });
}
