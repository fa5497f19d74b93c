import type { DeliveryDetails } from "@beckon/contract";
import { type Context, permit, scopesBeyond } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { deliveryBody } from "../../deliveries/index.ts";
import type { SubscriptionRow } from "../store.ts";
import { requireSubscription } from "../subscription.ts";
import { type DeliveryInput, requireDelivery, toDelivery } from "./delivery.ts";
import { type DeliveryRow, findData, listAttempts, type StoredData } from "./store.ts";

/** Maximum attempts in a response. A delivery can have more, because each replay adds attempts. */
const maxAttempts = 50;

/**
 * Returns a delivery with its body and its last attempts. Without the scope `runs:read`, the caller
 * gets neither the body of the delivery, because it shows what agents do, nor the bodies of the
 * receiver's responses, because they can repeat it.
 * @throws ApiError `forbidden`, `not_found`
 */
export async function getDelivery({
  ctx,
  input,
}: {
  ctx: Context;
  input: DeliveryInput & { readonly publicUrl: string };
}): Promise<DeliveryDetails> {
  permit(ctx, "subscriptions:read");
  const { workspaceId } = ctx;
  const showsBodies = scopesBeyond(ctx, ["runs:read"]).length === 0;
  return inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const subscription = await requireSubscription(tx, ctx, input);
    const row = await requireDelivery(tx, ctx, input);
    const key = { workspaceId, subscriptionId: input.subscriptionId, deliveryId: input.deliveryId };
    const attempts = await listAttempts(tx, key, maxAttempts);
    const data = showsBodies ? await findData(tx, key) : undefined;
    return {
      ...toDelivery(row),
      body: data === undefined ? null : bodyOf({ ...row, ...data }, subscription, input.publicUrl),
      attempts_log: attempts.map((attempt) => ({
        number: attempt.number,
        started_at: attempt.started_at.toISOString(),
        duration_ms: attempt.duration_ms,
        url: attempt.url,
        request_headers: attempt.request_headers,
        status: attempt.status,
        response_headers: attempt.response_headers,
        response_body: showsBodies ? attempt.response_body : "",
        error: attempt.error,
      })),
    };
  });
}

/**
 * Returns the body that an attempt would send now; null if the subscription's payload is `full` and
 * the delivery has no data: the run was deleted, or the delivery is not pending and was never sent
 * with data.
 */
function bodyOf(
  row: DeliveryRow & StoredData,
  { payload, format }: SubscriptionRow,
  publicUrl: string,
): string | null {
  if (payload === "full" && row.data === null) return null;
  return deliveryBody(row, { payload, format, publicUrl }, row.content ?? undefined).text;
}
