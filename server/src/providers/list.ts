import type { Provider } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { toProvider } from "./provider.ts";
import { listProviderRows } from "./store.ts";

/** Lists the workspace's own providers. @throws ApiError `forbidden` */
export async function listProviders({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<Provider>> {
  permit(ctx, "providers:read");
  const page = readPage(input.query, { list: "providers", workspace: ctx.workspaceId });
  const rows = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    listProviderRows(tx, ctx.workspaceId, page),
  );
  return page.page(rows.map(toProvider));
}
