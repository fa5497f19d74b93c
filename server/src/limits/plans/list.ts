import type { Plan } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { type Page, readPage } from "../../base/page.ts";
import type { LimitServices } from "../services.ts";
import { fixedPlans, requireOperator, toPlan } from "./plan.ts";
import { listPlanRows } from "./store.ts";

/**
 * The format of the ids in cursors: the name of a plan with `~` instead of dots, because dots
 * separate the parts of a cursor.
 */
const idForm = /^[a-z0-9][a-z0-9~_-]{0,62}$/;
const toId = (name: string) => name.replaceAll(".", "~");

/**
 * Lists all plans in the order of their names: the built-in plan, those of the operator's file and
 * those that were created through the API.
 * @throws ApiError `bad_request`; `forbidden` outside of the workspace `default`.
 */
export async function listPlans({
  ctx,
  input,
}: {
  ctx: Context & LimitServices;
  input: { query: unknown };
}): Promise<Page<Plan>> {
  permit(ctx, "plans:write");
  requireOperator(ctx);
  const page = readPage(input.query, { list: "plans" }, idForm);
  const rows = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    listPlanRows(tx, ctx.workspaceId),
  );
  const above = page.below?.replaceAll("~", ".") ?? "";
  const { data, next } = page.page(
    [...fixedPlans(ctx.limits.operatorPlans), ...rows.map(toPlan)]
      .filter(({ name }) => name > above)
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map((plan) => ({ id: toId(plan.name), plan })),
  );
  return { data: data.map(({ plan }) => plan), next };
}
