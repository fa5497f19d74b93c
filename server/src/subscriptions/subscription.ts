import type { Subscription } from "@beckon/contract";
import { agentLimit, type Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Health, noDeliveries, readHealth } from "./health-store.ts";
import { findSubscription, findSubscriptionForChange, type SubscriptionRow } from "./store.ts";

export interface SubscriptionInput {
  readonly subscriptionId: string;
}

/** A subscription with its signing secret in plain text. */
export type SubscriptionWithSecret = Subscription & { secret: string };

/** Returns the subscription as responses show it, without secret and header values. */
export function toSubscription(row: SubscriptionRow, health: Health): Subscription {
  const overlaps = row.previous_secret !== null && Number(row.previous_secret_until) > Date.now();
  return {
    id: row.id,
    version: row.version,
    url: row.url,
    description: row.description,
    event_types: row.event_types,
    agent_ids: row.agent_ids,
    trigger_ids: row.trigger_ids,
    tags: row.tags,
    payload: row.payload,
    format: row.format,
    header_names: row.header_names,
    status: row.status,
    disabled_reason: row.disabled_reason,
    inactive_since: timeOrNull(row.inactive_since),
    previous_secret_until: overlaps ? timeOrNull(row.previous_secret_until) : null,
    health: {
      last_success_at: timeOrNull(health.last_success_at),
      last_failure_at: timeOrNull(health.last_failure_at),
      failing_since: timeOrNull(health.failing_since),
      last_error: health.last_error,
      pending: health.pending,
      next_attempt_at: timeOrNull(health.next_at),
      failed: health.failed,
    },
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function timeOrNull(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}

/** Returns a stored subscription as responses show it. */
export async function showSubscription(
  tx: WorkspaceTransaction,
  row: SubscriptionRow,
): Promise<Subscription> {
  const health = await readHealth(tx, row.workspace_id, [row.id]);
  return toSubscription(row, health.get(row.id) ?? noDeliveries);
}

/**
 * Returns the subscription.
 * @throws ApiError `not_found`, also if the subscription is deleted, or if the caller is limited to
 *   some agents and the subscription is not limited to agents among them.
 */
export function requireSubscription(
  tx: WorkspaceTransaction,
  ctx: Context,
  { subscriptionId }: SubscriptionInput,
): Promise<SubscriptionRow> {
  return orNotFound(findSubscription(tx, ctx.workspaceId, subscriptionId, agentLimit(ctx)));
}

/**
 * Like `requireSubscription`, and locks its row against other changes until the transaction ends.
 * @throws ApiError `not_found` in the same cases as `requireSubscription`.
 */
export function requireSubscriptionForChange(
  tx: WorkspaceTransaction,
  ctx: Context,
  { subscriptionId }: SubscriptionInput,
): Promise<SubscriptionRow> {
  return orNotFound(
    findSubscriptionForChange(tx, ctx.workspaceId, subscriptionId, agentLimit(ctx)),
  );
}

async function orNotFound(found: Promise<SubscriptionRow | undefined>): Promise<SubscriptionRow> {
  const row = await found;
  if (row !== undefined) return row;
  throw new ApiError(
    "not_found",
    "There is no subscription with this id that this credential can see.",
  );
}

/**
 * Checks that the subscription is enabled.
 * @throws ApiError `conflict`
 */
export function requireEnabled({ status }: SubscriptionRow): void {
  if (status === "enabled") return;
  throw new ApiError("conflict", `This subscription is ${status}. Resume it first.`);
}
