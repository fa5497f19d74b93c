import { record } from "../base/audit/index.ts";
import { type Context, permit, requireMatchingVersion } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import type { DeliveryServices } from "../deliveries/index.ts";
import { endPendingOrLeave } from "./pending-store.ts";
import { deleteSubscriptionRow } from "./store.ts";
import { requireSubscriptionForChange, type SubscriptionInput } from "./subscription.ts";

/**
 * Marks a subscription as deleted, removes its secrets and cancels its pending deliveries.
 * @throws ApiError `forbidden`, `not_found`; `stale` if `If-Match` is not the current version.
 */
export async function deleteSubscription({
  ctx,
  input,
}: {
  ctx: Context & DeliveryServices;
  input: SubscriptionInput;
}): Promise<void> {
  permit(ctx, "subscriptions:write");
  const { database, workspaceId } = ctx;
  const row = await inWorkspace(database.tenant, workspaceId, async (tx) => {
    const found = await requireSubscriptionForChange(tx, ctx, input);
    requireMatchingVersion(ctx, "subscription", found.version);
    await deleteSubscriptionRow(tx, found);
    await record(tx, ctx, {
      action: "subscription.delete",
      target: found.id,
      data: { url: found.url },
    });
    return found;
  });
  ctx.deliveries.changed();
  await endPendingOrLeave(database, row, "cancelled");
}
