import { record } from "../base/audit/index.ts";
import { type Context, permit, requireMatchingVersion } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { revokeTokens } from "../tokens/index.ts";
import { deleteTriggerRow } from "./store.ts";
import { requireTriggerForChange, type TriggerInput, versionOf } from "./trigger.ts";

/**
 * Marks the trigger as deleted and revokes its token. Runs that the trigger has started continue
 * and stay readable. Retention deletes its received requests.
 * @throws ApiError `forbidden`, `not_found`; `stale` if `If-Match` is not the current version.
 */
export async function deleteTrigger({
  ctx,
  input,
}: {
  ctx: Context;
  input: TriggerInput;
}): Promise<void> {
  permit(ctx, "triggers:write");
  await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTriggerForChange(tx, ctx, input);
    requireMatchingVersion(ctx, "trigger", versionOf(row));
    await deleteTriggerRow(tx, row);
    await revokeTokens(tx, { agentId: row.agent_id, triggerId: row.id });
    await record(tx, ctx, { action: "trigger.delete", target: row.id, data: { name: row.name } });
  });
}
