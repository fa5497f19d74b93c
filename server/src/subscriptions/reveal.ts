import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { decryptSigningSecret } from "../deliveries/index.ts";
import {
  requireSubscription,
  type SubscriptionInput,
  type SubscriptionWithSecret,
  showSubscription,
} from "./subscription.ts";

/**
 * Returns the subscription with its secret in plain text and writes the reveal to the audit log.
 * @throws ApiError `forbidden`, `not_found`; `secret_unreadable` if the secret was encrypted with a
 *   master key that is lost.
 */
export async function revealSubscriptionSecret({
  ctx,
  input,
}: {
  ctx: Context;
  input: SubscriptionInput;
}): Promise<SubscriptionWithSecret> {
  permit(ctx, "subscriptions:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireSubscription(tx, ctx, input);
    const secret = decryptSigningSecret(ctx.cipher, row, row.secret);
    await record(tx, ctx, { action: "subscription.reveal", target: row.id });
    return { ...(await showSubscription(tx, row)), secret };
  });
}
