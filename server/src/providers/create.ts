import { createProviderBody, type Provider } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace, isUniqueViolation } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { addressOf } from "./address.ts";
import { reservedNames, sealKey, toProvider } from "./provider.ts";
import { insertProvider } from "./store.ts";

/** Adds a provider. @throws ApiError `conflict` when the name is reserved or taken by a living one. */
export async function createProvider({
  ctx,
  input,
}: {
  ctx: Context;
  input: { body: UnparsedBody };
}): Promise<Once<Provider>> {
  permit(ctx, "providers:write");
  const { tenant } = ctx.database;
  return inWorkspace(tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      const body = parseBody(createProviderBody, input.body);
      if (reservedNames.includes(body.name)) throw taken(body.name, "is reserved");
      const id = newId("prv");
      const owner = { id, workspace_id: ctx.workspaceId };
      const row = await insertProvider(tx, {
        ...owner,
        name: body.name,
        kind: body.kind,
        base_url: body.base_url ?? null,
        ...sealKey(
          ctx.cipher,
          owner,
          addressOf({ kind: body.kind, base_url: body.base_url ?? null }),
          body.api_key,
        ),
      }).catch((thrown) => {
        throw isUniqueViolation(thrown) ? taken(body.name, "is taken") : thrown;
      });
      await record(tx, ctx, {
        action: "provider.create",
        target: id,
        data: { name: body.name, kind: body.kind, base_url: body.base_url },
      });
      return toProvider(row);
    }),
  );
}

function taken(name: string, why: string): ApiError {
  return new ApiError("conflict", `The provider name ${name} ${why}. Choose another one.`);
}
