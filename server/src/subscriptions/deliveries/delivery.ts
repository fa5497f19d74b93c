import type { Delivery } from "@beckon/contract";
import { agentLimit, type Context } from "../../base/context.ts";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { timeOf } from "../../base/ids.ts";
import type { SubscriptionInput } from "../subscription.ts";
import { type DeliveryRow, findDelivery } from "./store.ts";

export type DeliveryInput = SubscriptionInput & { readonly deliveryId: string };

/** Returns a stored delivery as responses show it. */
export function toDelivery(row: DeliveryRow): Delivery {
  const isTest = row.kind === "test";
  return {
    id: row.id,
    subscription_id: row.subscription_id,
    kind: row.kind,
    event_id: row.event_id,
    type: row.type,
    // A test delivery has the example ids of `exampleEvents`, which belong to no real agent or run.
    agent_id: isTest ? null : row.agent_id,
    run_id: isTest ? null : row.run_id,
    seq: isTest ? null : row.seq,
    url: row.callback_url ?? row.subscription_url,
    status: row.status,
    attempts: row.attempts,
    next_attempt_at: row.next_at === null ? null : row.next_at.toISOString(),
    last_status: row.last_status,
    last_error: row.last_error,
    created_at: timeOf(row.id).toISOString(),
    finished_at: row.finished_at === null ? null : row.finished_at.toISOString(),
  };
}

/** Returns a delivery of a subscription that the caller can see. @throws ApiError `not_found` */
export async function requireDelivery(
  tx: WorkspaceTransaction,
  ctx: Context,
  input: DeliveryInput,
): Promise<DeliveryRow> {
  const key = { workspaceId: ctx.workspaceId, ...input };
  const row = await findDelivery(tx, key, agentLimit(ctx));
  if (row !== undefined) return row;
  throw new ApiError(
    "not_found",
    "This subscription has no delivery with this id. Old deliveries are deleted, by default after 30 days.",
  );
}
