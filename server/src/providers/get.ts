import type { Provider } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { findOperatorProvider, toOperatorProvider } from "./operator/index.ts";
import { noProvider, toProvider } from "./provider.ts";
import { findProvider } from "./store.ts";

/**
 * Returns a provider of the workspace, or a provider of the operator that the workspace can use.
 * The response does not contain the provider's key.
 * @throws ApiError `forbidden` if the caller is not allowed to read providers; `not_found` if there
 *   is no provider with this id.
 */
export async function getProvider({
  ctx,
  input,
}: {
  ctx: Context;
  input: { providerId: string };
}): Promise<Provider> {
  permit(ctx, "providers:read");
  const operators = await findOperatorProvider(ctx, input.providerId);
  if (operators !== undefined) return toOperatorProvider(ctx, operators);
  const row = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    findProvider(tx, ctx.workspaceId, input.providerId),
  );
  if (row === undefined) throw noProvider();
  return toProvider(row);
}
