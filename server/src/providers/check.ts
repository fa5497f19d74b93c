import { emptyBody, type ProviderCheck } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { onBehalfOf } from "../base/egress/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { toConnection } from "./connection.ts";
import { listKey, type ModelListServices } from "./list-models.ts";
import type { FetchedModels } from "./model-lists/index.ts";
import { findOperatorProvider, operatorNameIn } from "./operator/index.ts";
import { noProvider } from "./provider.ts";
import { findProvider } from "./store.ts";

const timeoutMs = 10_000;

/**
 * Checks a provider by a request for its list of models. The result says whether the request
 * succeeded, and lists the models. A failure of the provider is part of the result and is not
 * thrown. For a model server on this machine, the result can be up to 30 seconds old, because
 * `findOperatorProvider` does not probe the server more often.
 *
 * @throws ApiError `bad_request`, `forbidden`; `not_found` if there is no provider with this id;
 *   `secret_unreadable` if the key was encrypted with another master key, or was entered for a base
 *   URL with another origin.
 */
export async function checkProvider({
  ctx,
  input,
}: {
  ctx: Context & ModelListServices;
  input: { providerId: string; body: UnparsedBody };
}): Promise<ProviderCheck> {
  permit(ctx, "providers:write");
  const list =
    operatorNameIn(input.providerId) === undefined
      ? await checkOwn(ctx, input.providerId)
      : await checkOperators(ctx, input.providerId);
  parseBody(emptyBody, input.body, {});
  const { models, error } = await list();
  return { works: error === null, models: [...models], error };
}

type List = () => Promise<Pick<FetchedModels, "models" | "error">>;

async function checkOwn(ctx: Context & ModelListServices, id: string): Promise<List> {
  const row = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    findProvider(tx, ctx.workspaceId, id),
  );
  if (row === undefined) throw noProvider();
  const connection = toConnection(ctx.cipher, row);
  const request = () => ctx.modelLists.fetch(connection, ctx.egress, timeoutMs);
  return () => keeping(ctx, listKey(row), onBehalfOf(ctx.workspaceId, request));
}

async function checkOperators(ctx: Context & ModelListServices, id: string): Promise<List> {
  const provider = await findOperatorProvider(ctx, id);
  if (provider === undefined) {
    const error = ctx.operator?.absence(ctx.workspaceId, operatorNameIn(id) ?? "");
    if (error === undefined) throw noProvider();
    return async () => ({ models: [], error });
  }
  const { models } = provider;
  return models === undefined
    ? () => keeping(ctx, id, ctx.modelLists.fetch(provider, ctx.unrestricted, timeoutMs))
    : async () => ({ models, error: null });
}

/**
 * Keeps the result, so that `listModels` does not contradict it with an older one. A request that
 * is still in progress is not kept, because it can take longer than `listModels` may.
 */
async function keeping(
  { modelLists }: ModelListServices,
  key: string,
  request: Promise<FetchedModels>,
): Promise<FetchedModels> {
  const list = await request;
  modelLists.keep(key, list);
  return list;
}
