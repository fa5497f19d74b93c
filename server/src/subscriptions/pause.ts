import { emptyBody, type Subscription } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { DeliveryServices } from "../deliveries/index.ts";
import { endPendingOrLeave } from "./pending-store.ts";
import { pauseSubscriptionRow } from "./store.ts";
import {
  requireSubscriptionForChange,
  type SubscriptionInput,
  showSubscription,
} from "./subscription.ts";

/**
 * Pauses a subscription: its pending deliveries, and those of later events, are not sent. A
 * subscription that is paused or disabled is not changed.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function pauseSubscription({
  ctx,
  input,
}: {
  ctx: Context & DeliveryServices;
  input: SubscriptionInput & { body: UnparsedBody };
}): Promise<Once<Subscription>> {
  permit(ctx, "subscriptions:write");
  const { database, workspaceId } = ctx;
  const result = await inWorkspace(database.tenant, workspaceId, async (tx) => {
    const row = await requireSubscriptionForChange(tx, ctx, input);
    return once(tx, ctx, async () => {
      parseBody(emptyBody, input.body, {});
      if (row.status !== "enabled") return showSubscription(tx, row);
      const paused = await pauseSubscriptionRow(tx, row);
      await record(tx, ctx, { action: "subscription.pause", target: row.id });
      return showSubscription(tx, paused);
    });
  });
  ctx.deliveries.changed();
  await endPendingOrLeave(database, { id: result.data.id, workspace_id: workspaceId }, "not_sent");
  return result;
}
