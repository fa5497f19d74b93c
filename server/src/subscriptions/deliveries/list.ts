import { type Delivery, deliveriesQuery } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { type Page, readPage } from "../../base/page.ts";
import { parseQuery } from "../../base/parse.ts";
import { requireSubscription, type SubscriptionInput } from "../subscription.ts";
import { toDelivery } from "./delivery.ts";
import { searchDeliveries } from "./store.ts";

/**
 * Returns one page of a subscription's deliveries, newest first. A page searches a limited number
 * of deliveries: it can have fewer than `limit`, or none, although there are more.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function listDeliveries({
  ctx,
  input,
}: {
  ctx: Context;
  input: SubscriptionInput & { query: unknown };
}): Promise<Page<Delivery>> {
  permit(ctx, "subscriptions:read");
  const { workspaceId } = ctx;
  const { subscriptionId } = input;
  const agentIds = agentLimit(ctx);
  return inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    await requireSubscription(tx, ctx, input);
    const { limit, after, ...filter } = parseQuery(deliveriesQuery, input.query);
    const page = readPage(
      { limit, after },
      { list: "deliveries", subscription: subscriptionId, ...filter },
    );
    const { rows, searchedTo } = await searchDeliveries(tx, workspaceId, subscriptionId, filter, {
      agentIds,
      below: page.below,
      limit: page.limit + 1,
    });
    const { data, next } = page.page(rows, searchedTo);
    return { data: data.map(toDelivery), next };
  });
}
