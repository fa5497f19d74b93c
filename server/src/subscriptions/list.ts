import type { Subscription } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { noDeliveries, readHealth } from "./health-store.ts";
import { listSubscriptionRows } from "./store.ts";
import { toSubscription } from "./subscription.ts";

/**
 * Returns one page of the workspace's subscriptions. A key that is limited to some agents gets only
 * subscriptions that are limited to agents of this key.
 * @throws ApiError `bad_request`, `forbidden`
 */
export async function listSubscriptions({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<Subscription>> {
  permit(ctx, "subscriptions:read");
  const { workspaceId } = ctx;
  const agentIds = agentLimit(ctx);
  const page = readPage(input.query, {
    list: "subscriptions",
    workspace: workspaceId,
    agents: agentIds,
  });
  return inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const { data, next } = page.page(await listSubscriptionRows(tx, workspaceId, agentIds, page));
    const ids = data.map(({ id }) => id);
    const health = await readHealth(tx, workspaceId, ids);
    return {
      data: data.map((row) => toSubscription(row, health.get(row.id) ?? noDeliveries)),
      next,
    };
  });
}
