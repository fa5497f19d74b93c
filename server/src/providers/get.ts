import type { Provider } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { noProvider, toProvider } from "./provider.ts";
import { findProvider } from "./store.ts";

/** Returns a provider without its key. @throws ApiError `forbidden`, `not_found` */
export async function getProvider({
  ctx,
  input,
}: {
  ctx: Context;
  input: { providerId: string };
}): Promise<Provider> {
  permit(ctx, "providers:read");
  const row = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    findProvider(tx, ctx.workspaceId, input.providerId),
  );
  if (row === undefined) throw noProvider();
  return toProvider(row);
}
