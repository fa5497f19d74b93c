import type { Trigger } from "@beckon/contract";
import { requireAgent } from "../agents/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { listTriggerRows } from "./store.ts";
import { toTrigger } from "./trigger.ts";

/**
 * Returns one page of an agent's triggers, without their URLs.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function listTriggers({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string; query: unknown };
}): Promise<Page<Trigger>> {
  permit(ctx, "triggers:read");
  const { workspaceId } = ctx;
  return inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    await requireAgent(tx, ctx, input.agentId);
    const page = readPage(input.query, { list: "triggers", agent: input.agentId });
    const key = { workspaceId, agentId: input.agentId };
    const { rows, hasMore } = await listTriggerRows(tx, key, page);
    const last = rows.at(-1);
    return {
      data: rows.map((row) => toTrigger(ctx, row)),
      next: hasMore && last ? page.cursor(last.id) : null,
    };
  });
}
