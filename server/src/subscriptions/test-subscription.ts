import {
  type Delivery,
  deliveredEvent,
  eventVersion,
  testSubscriptionBody,
} from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { DeliveryServices } from "../deliveries/index.ts";
import { insertTestDelivery, requireDelivery, toDelivery } from "./deliveries/index.ts";
import { exampleEvents } from "./examples.ts";
import {
  requireEnabled,
  requireSubscriptionForChange,
  type SubscriptionInput,
} from "./subscription.ts";

/**
 * Sends an example event to the receiver: of the type in the request's body or, without one, of the
 * subscription's first event type. The delivered body has `"test": true`. The event is not stored,
 * so it cannot be read from the API.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; `conflict` if the subscription is not
 *   enabled.
 */
export async function testSubscription({
  ctx,
  input,
}: {
  ctx: Context & DeliveryServices;
  input: SubscriptionInput & { body: UnparsedBody };
}): Promise<Once<Delivery>> {
  permit(ctx, "subscriptions:write");
  const { workspaceId } = ctx;
  const result = await inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const subscription = await requireSubscriptionForChange(tx, ctx, input);
    return once(tx, ctx, async () => {
      const body = parseBody(testSubscriptionBody, input.body, {});
      requireEnabled(subscription);
      const type = body.type ?? deliveredEvent.parse(subscription.event_types[0]);
      const { data, ...ids } = exampleEvents[type];
      const deliveryId = newId("dlv");
      await insertTestDelivery(tx, {
        ...ids,
        id: deliveryId,
        workspace_id: workspaceId,
        subscription_id: subscription.id,
        event_id: newId("evt"),
        type,
        version: eventVersion,
        data: subscription.payload === "thin" ? null : data,
      });
      await record(tx, ctx, {
        action: "subscription.test",
        target: subscription.id,
        data: { type, delivery_id: deliveryId },
      });
      return toDelivery(await requireDelivery(tx, ctx, { ...input, deliveryId }));
    });
  });
  ctx.deliveries.changed();
  return result;
}
