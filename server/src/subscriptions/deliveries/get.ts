import type { DeliveryDetails } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { requireSubscription } from "../subscription.ts";
import { type DeliveryInput, requireDelivery, toDelivery } from "./delivery.ts";
import { listAttempts } from "./store.ts";

/** Attempts that a response shows. A replay adds up to ten. */
const maxAttempts = 50;

/**
 * Returns a delivery with its body and its last attempts.
 * @throws ApiError `forbidden`, `not_found`
 */
export async function getDelivery({
  ctx,
  input,
}: {
  ctx: Context;
  input: DeliveryInput;
}): Promise<DeliveryDetails> {
  permit(ctx, "subscriptions:read");
  const { workspaceId } = ctx;
  return inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    await requireSubscription(tx, ctx, input);
    const row = await requireDelivery(tx, ctx, input);
    const attempts = await listAttempts(tx, { workspaceId, ...input }, maxAttempts);
    return {
      ...toDelivery(row),
      body: null,
      attempts_log: attempts.map((attempt) => ({
        number: attempt.number,
        started_at: attempt.started_at.toISOString(),
        duration_ms: attempt.duration_ms,
        url: attempt.url,
        request_headers: attempt.request_headers,
        status: attempt.status,
        response_headers: attempt.response_headers,
        response_body: attempt.response_body,
        error: attempt.error,
      })),
    };
  });
}
