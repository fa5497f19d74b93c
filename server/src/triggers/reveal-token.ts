import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { revealToken } from "../tokens/index.ts";
import { requireTrigger, type TriggerInput, type TriggerWithToken, toTrigger } from "./trigger.ts";

/**
 * Returns the trigger with its token in plain text and writes the reveal to the audit log.
 * @throws ApiError `forbidden`, `not_found`; `secret_unreadable` if the token was encrypted with a
 *   master key that is lost.
 */
export async function revealTrigger({
  ctx,
  input,
}: {
  ctx: Context;
  input: TriggerInput;
}): Promise<TriggerWithToken> {
  permit(ctx, "triggers:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTrigger(tx, ctx, input);
    const token = await revealToken(tx, ctx, { agentId: row.agent_id, triggerId: row.id });
    await record(tx, ctx, { action: "trigger.reveal", target: row.id });
    return { ...toTrigger(ctx, row), token };
  });
}
