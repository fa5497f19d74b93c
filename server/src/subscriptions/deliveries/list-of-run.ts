import type { Delivery } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { type Page, readPage } from "../../base/page.ts";
import { missingRun } from "../../retention/index.ts";
import { toDelivery } from "./delivery.ts";
import { listDeliveriesOfRun, runExists } from "./store.ts";

/**
 * Returns one page of the deliveries about a run, newest first, of all subscriptions that the
 * caller can see.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function listRunDeliveries({
  ctx,
  input,
}: {
  ctx: Context;
  input: { runId: string; query: unknown };
}): Promise<Page<Delivery>> {
  permit(ctx, "subscriptions:read");
  permit(ctx, "runs:read");
  const { workspaceId } = ctx;
  const { runId } = input;
  const agentIds = agentLimit(ctx);
  return inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    if (!(await runExists(tx, workspaceId, runId, agentIds)))
      throw await missingRun(tx, ctx, runId);
    const page = readPage(input.query, { list: "run deliveries", run: runId, agents: agentIds });
    const rows = await listDeliveriesOfRun(tx, workspaceId, runId, agentIds, {
      below: page.below,
      limit: page.limit + 1,
    });
    const { data, next } = page.page(rows);
    return { data: data.map(toDelivery), next };
  });
}
