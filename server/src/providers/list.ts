import type { Provider } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { afterOwn, providerIdForm, toOperatorProvider } from "./operator/index.ts";
import { toProvider } from "./provider.ts";
import { listProviderRows } from "./store.ts";

/**
 * Lists the workspace's own providers, newest first, then the operator's providers that the
 * workspace can use.
 * @throws ApiError `forbidden` if the caller is not allowed to read providers.
 */
export async function listProviders({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<Provider>> {
  permit(ctx, "providers:read");
  const page = readPage(
    input.query,
    { list: "providers", workspace: ctx.workspaceId },
    providerIdForm,
  );
  await ctx.operator?.probe(ctx.workspaceId);
  const rows = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    listProviderRows(tx, ctx.workspaceId, page),
  );
  const operators = ctx.operator?.usableBy(ctx.workspaceId) ?? [];
  return page.page([
    ...rows.map(toProvider),
    ...afterOwn(
      page,
      operators.map((provider) => toOperatorProvider(ctx, provider)),
    ),
  ]);
}
