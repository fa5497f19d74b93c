import { type Ceiling, ceilingScope, ceilingsQuery } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { type Page, readPage } from "../../base/page.ts";
import { parseQuery } from "../../base/parse.ts";
import { toCeiling } from "./ceiling.ts";
import { type CeilingRef, readCeilings } from "./store.ts";

/**
 * The format of the ids in cursors: the scope, a space, and the id of the resource to which the
 * ceiling applies.
 */
const idForm = new RegExp(`^(?:${ceilingScope.options.join("|")}) [\\w-]+$`);

/**
 * Lists the ceiling of the workspace, then those of its agents, keys and triggers in the order of
 * their ids. The workspace can have more ceilings than a caller reads, so the one that limits all
 * runs comes first. A key that is limited to agents sees only the ceilings of these agents, of
 * their triggers and of the key itself.
 * @throws ApiError `bad_request`, `forbidden`
 */
export async function listCeilings({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<Ceiling>> {
  permit(ctx, "usage:read");
  const { workspaceId, actor } = ctx;
  const { scope, ...paging } = parseQuery(ceilingsQuery, input.query);
  const agentIds = agentLimit(ctx);
  const page = readPage(
    paging,
    { list: "limits", workspace: workspaceId, scope, agents: agentIds },
    idForm,
  );
  const rows = await inWorkspace(ctx.database.tenant, workspaceId, (tx) =>
    readCeilings(tx, workspaceId, {
      scope,
      above: page.below === undefined ? undefined : fromId(page.below),
      limit: page.limit + 1,
      agentIds,
      keyId: actor.kind === "key" ? actor.id : undefined,
    }),
  );
  const { data, next } = page.page(
    rows.map((row) => ({ id: `${row.scope_kind} ${row.scope_id}`, row })),
  );
  return { data: data.map(({ row }) => toCeiling(ctx, row)), next };
}

function fromId(id: string): CeilingRef {
  const [scope, scopeId = ""] = id.split(" ");
  return { scope: ceilingScope.parse(scope), scopeId };
}
