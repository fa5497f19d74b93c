import { rotateSecretBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import {
  type DeliveryServices,
  encryptSigningSecret,
  newSigningSecret,
} from "../deliveries/index.ts";
import { rotateSecretRow } from "./store.ts";
import {
  requireSubscriptionForChange,
  type SubscriptionInput,
  type SubscriptionWithSecret,
  showSubscription,
} from "./subscription.ts";

/**
 * Replaces the secret that signs deliveries. For `grace_seconds` after this, by default a day,
 * deliveries are also signed with the previous secret.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function rotateSubscriptionSecret({
  ctx,
  input,
}: {
  ctx: Context & DeliveryServices;
  input: SubscriptionInput & { body: UnparsedBody };
}): Promise<Once<SubscriptionWithSecret>> {
  permit(ctx, "subscriptions:write");
  const result = await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireSubscriptionForChange(tx, ctx, input);
    return once(tx, ctx, async () => {
      const { secret = newSigningSecret(), grace_seconds } = parseBody(
        rotateSecretBody,
        input.body,
        {},
      );
      const encrypted = encryptSigningSecret(ctx.cipher, row, secret);
      const rotated = await rotateSecretRow(tx, row, encrypted, grace_seconds);
      await record(tx, ctx, {
        action: "subscription.rotate",
        target: row.id,
        data: { grace_seconds },
      });
      return { ...(await showSubscription(tx, rotated)), secret };
    });
  });
  ctx.deliveries.changed();
  return result;
}
