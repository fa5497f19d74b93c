import { type Delivery, emptyBody } from "@beckon/contract";
import { record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { type Once, once } from "../../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { type DeliveryServices, originOf } from "../../deliveries/index.ts";
import { requireEnabled, requireSubscriptionForChange } from "../subscription.ts";
import { type DeliveryInput, requireDelivery, toDelivery } from "./delivery.ts";
import { replayDeliveryRow } from "./replay-store.ts";
import { runExists } from "./store.ts";

/**
 * Sends a delivery again, regardless of its status: all attempts start over, with the same
 * `webhook-id`. An attempt that is in progress continues and counts as the first one.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; `conflict` if the subscription is not
 *   enabled, if the run was deleted, or if the delivery is a callback to another server than that
 *   of the subscription's URL.
 */
export async function replayDelivery({
  ctx,
  input,
}: {
  ctx: Context & DeliveryServices;
  input: DeliveryInput & { body: UnparsedBody };
}): Promise<Once<Delivery>> {
  permit(ctx, "subscriptions:write");
  const { workspaceId } = ctx;
  const result = await inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const subscription = await requireSubscriptionForChange(tx, ctx, input);
    const row = await requireDelivery(tx, ctx, input);
    return once(tx, ctx, async () => {
      parseBody(emptyBody, input.body, {});
      requireEnabled(subscription);
      const { run_id: runId, kind, callback_url: callbackUrl } = row;
      if (runId !== null && kind !== "test" && !(await runExists(tx, workspaceId, runId))) {
        throw new ApiError(
          "conflict",
          "The run of this delivery was deleted, and the event with it. It cannot be sent again.",
        );
      }
      if (callbackUrl !== null && originOf({ url: callbackUrl }) !== originOf(subscription)) {
        throw new ApiError(
          "conflict",
          `This callback went to ${originOf({ url: callbackUrl })}, and the subscription's secret is for ${originOf(subscription)}. It cannot be sent again.`,
        );
      }
      await replayDeliveryRow(tx, { workspaceId, ...input });
      await record(tx, ctx, {
        action: "delivery.replay",
        target: row.id,
        data: { subscription_id: subscription.id, type: row.type, status: row.status },
      });
      return toDelivery(await requireDelivery(tx, ctx, input));
    });
  });
  ctx.deliveries.changed();
  return result;
}
