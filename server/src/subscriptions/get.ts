import type { Subscription } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { requireSubscription, type SubscriptionInput, showSubscription } from "./subscription.ts";

/** Returns a subscription without its secret. @throws ApiError `forbidden`, `not_found` */
export async function getSubscription({
  ctx,
  input,
}: {
  ctx: Context;
  input: SubscriptionInput;
}): Promise<Subscription> {
  permit(ctx, "subscriptions:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) =>
    showSubscription(tx, await requireSubscription(tx, ctx, input)),
  );
}
