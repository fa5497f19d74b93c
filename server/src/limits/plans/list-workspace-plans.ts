import { type WorkspacePlan, workspacePlansQuery } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inAllWorkspaces } from "../../base/database/index.ts";
import { type Page, readPage } from "../../base/page.ts";
import { parseQuery } from "../../base/parse.ts";
import type { LimitServices } from "../services.ts";
import { requireOperator } from "./plan.ts";
import { toWorkspacePlan } from "./workspace-plan.ts";
import { listWorkspacePlanRows } from "./workspace-plan-store.ts";

/**
 * Lists all workspaces with their plans, newest first.
 * @throws ApiError `bad_request`; `forbidden` outside of the workspace `default`.
 */
export async function listWorkspacePlans({
  ctx,
  input,
}: {
  ctx: Context & LimitServices;
  input: { query: unknown };
}): Promise<Page<WorkspacePlan>> {
  permit(ctx, "plans:write");
  requireOperator(ctx);
  const { plan, ...paging } = parseQuery(workspacePlansQuery, input.query);
  const page = readPage(paging, { list: "workspace-plans", plan });
  const rows = await inAllWorkspaces(ctx.database.tenant, (tx) =>
    listWorkspacePlanRows(tx, { plan, below: page.below, limit: page.limit + 1 }),
  );
  const { data, next } = page.page(rows);
  return { data: data.map(toWorkspacePlan), next };
}
