import { rotateSecretBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import {
  type DeliveryServices,
  encryptSigningSecret,
  isSigningSecret,
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
 * deliveries are also signed with the previous secret. If the given secret is the stored one,
 * nothing changes; only `grace_seconds` 0 ends the time of the previous secret.
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
      // If a request that gave this secret is repeated, the secret before it must still sign.
      const isRepeat = grace_seconds > 0 && isSigningSecret(ctx.cipher, row, row.secret, secret);
      const rotated = isRepeat ? row : await rotateSecretRow(tx, row, encrypted, grace_seconds);
      await record(tx, ctx, {
        action: "subscription.rotate",
        target: row.id,
        data: { grace_seconds, ...(isRepeat ? {} : { secret: "replaced" }) },
      });
      return { ...(await showSubscription(tx, rotated)), secret };
    });
  });
  ctx.deliveries.changed();
  return result;
}
