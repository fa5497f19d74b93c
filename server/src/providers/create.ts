import { createProviderBody, type Provider } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace, isUniqueViolation } from "../base/database/index.ts";
import { type Egress, privateAddressError } from "../base/egress/index.ts";
import { ApiError, attempt, orThrow } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { addressOf } from "./address.ts";
import { encryptKey, reservedName, toProvider } from "./provider.ts";
import { insertProvider } from "./store.ts";

/**
 * Adds a provider.
 * @throws ApiError `conflict` if the name is reserved or in use; `bad_request` if the address is
 *   private and not allowed; `forbidden` if the caller is not allowed to add providers, or to add
 *   free ones.
 */
export async function createProvider({
  ctx,
  input,
}: {
  ctx: Context & { readonly egress: Pick<Egress, "missingException"> };
  input: { body: UnparsedBody };
}): Promise<Once<Provider>> {
  permit(ctx, "providers:write");
  const given = attempt(() => parseBody(createProviderBody, input.body));
  // Calls of a free provider cost nothing, so limits of money do not apply to these calls.
  // Therefore only a caller who can change limits can make a provider free.
  if (given.ok && given.value.free) permit(ctx, "limits:write");
  const { tenant } = ctx.database;
  const addressError = await privateAddressError(ctx, input.body, "base_url");
  return inWorkspace(tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      const body = orThrow(given);
      if (addressError !== undefined) throw addressError;
      if (body.name === reservedName) throw nameConflict(body.name, "is reserved");
      const id = newId("prv");
      const owner = { id, workspace_id: ctx.workspaceId };
      const row = await insertProvider(tx, {
        ...owner,
        name: body.name,
        kind: body.kind,
        base_url: body.base_url ?? null,
        free: body.free,
        ...encryptKey(
          ctx.cipher,
          owner,
          addressOf({ kind: body.kind, base_url: body.base_url ?? null }),
          body.api_key,
        ),
      }).catch((thrown) => {
        throw isUniqueViolation(thrown) ? nameConflict(body.name, "is in use") : thrown;
      });
      await record(tx, ctx, {
        action: "provider.create",
        target: id,
        data: {
          name: body.name,
          kind: body.kind,
          base_url: body.base_url,
          ...(body.free ? { free: true } : {}),
        },
      });
      return toProvider(row);
    }),
  );
}

function nameConflict(name: string, why: string): ApiError {
  return new ApiError("conflict", `The provider name ${name} ${why}. Choose another one.`);
}
