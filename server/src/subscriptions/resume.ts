import { emptyBody, type ResumedSubscription } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { timeOf } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { DeliveryServices } from "../deliveries/index.ts";
import { countMissed } from "./deliveries/index.ts";
import { endPending } from "./pending-store.ts";
import { resumeSubscriptionRow, type SubscriptionRow } from "./store.ts";
import {
  requireSubscription,
  requireSubscriptionForChange,
  type SubscriptionInput,
  showSubscription,
} from "./subscription.ts";

/**
 * Enables a subscription that is paused or disabled. Later events are delivered. Events that were
 * missed are counted but not sent; `replayDeliveries` sends them.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function resumeSubscription({
  ctx,
  input,
}: {
  ctx: Context & DeliveryServices;
  input: SubscriptionInput & { body: UnparsedBody };
}): Promise<Once<ResumedSubscription>> {
  permit(ctx, "subscriptions:write");
  const { database, workspaceId } = ctx;
  const inactive = await inWorkspace(database.tenant, workspaceId, (tx) =>
    requireSubscription(tx, ctx, input),
  );
  // If a process exited while it paused or disabled the subscription, deliveries can still be
  // pending. They are ended first, so that they count as missed.
  await endPending(database, inactive, "not_sent");
  const result = await inWorkspace(database.tenant, workspaceId, async (tx) => {
    const row = await requireSubscriptionForChange(tx, ctx, input);
    return once(tx, ctx, async () => {
      parseBody(emptyBody, input.body, {});
      const missed = await missedBy(tx, row);
      if (row.status === "enabled") return { ...(await showSubscription(tx, row)), missed };
      const resumed = await resumeSubscriptionRow(tx, row);
      await record(tx, ctx, {
        action: "subscription.resume",
        target: row.id,
        data: { status: row.status, disabled_reason: row.disabled_reason },
      });
      return { ...(await showSubscription(tx, resumed)), missed };
    });
  });
  ctx.deliveries.changed();
  return result;
}

async function missedBy(
  tx: WorkspaceTransaction,
  row: SubscriptionRow,
): Promise<ResumedSubscription["missed"]> {
  if (row.inactive_since === null) return { deliveries: 0, since: null };
  const { deliveries, oldest } = await countMissed(tx, row, {
    inactiveSince: row.inactive_since,
    failingSince: row.failing_since,
  });
  return { deliveries, since: oldest === undefined ? null : timeOf(oldest).toISOString() };
}
