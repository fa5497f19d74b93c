import { type Provider, updateProviderBody } from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { type Context, permit, scopesBeyond } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { type Egress, privateAddressError } from "../base/egress/index.ts";
import { ApiError, attempt, orThrow } from "../base/errors.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { addressOf } from "./address.ts";
import { rejectOperatorProvider } from "./operator/index.ts";
import { encryptKey, noProvider, requireKeyFor, toProvider } from "./provider.ts";
import { findProviderForUpdate, hasPrices, type ProviderRow, updateProviderRow } from "./store.ts";

/**
 * Changes a provider's address or key, or whether it is free. Runs that start afterwards use the
 * new values.
 * @throws ApiError `not_found`; `bad_request` if the stored key was not given for the origin of the
 *   new address, or if the new address is private and not allowed; `conflict` for a provider of the
 *   operator; `forbidden` if the caller is not allowed to change providers, or to change what their
 *   calls cost.
 */
export async function updateProvider({
  ctx,
  input,
}: {
  ctx: Context & { readonly egress: Pick<Egress, "missingException"> };
  input: { providerId: string; body: UnparsedBody };
}): Promise<Provider> {
  permit(ctx, "providers:write");
  const given = attempt(() => parseBody(updateProviderBody, input.body));
  if (given.ok && given.value.free !== undefined) permit(ctx, "limits:write");
  await rejectOperatorProvider(ctx, input.providerId);
  const addressError = await privateAddressError(ctx, input.body, "base_url");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await findProviderForUpdate(tx, ctx.workspaceId, input.providerId);
    if (row === undefined) throw noProvider();
    const body = orThrow(given);
    if (addressError !== undefined) throw addressError;
    if (body.base_url === null && row.kind === "openai-compatible") {
      throw new ApiError(
        "bad_request",
        "base_url: an openai-compatible provider needs one, since the kind has no default.",
      );
    }
    const { kind, base_url } = {
      ...row,
      ...(body.base_url === undefined ? {} : { base_url: body.base_url }),
    };
    const address = addressOf({ kind, base_url });
    if (body.base_url !== undefined && body.api_key === undefined) requireKeyFor(row, address);
    if (address.baseUrl !== addressOf(row).baseUrl) await permitMove(tx, ctx, row);
    const changed = await updateProviderRow(tx, row, {
      base_url,
      ...(body.free === undefined ? {} : { free: body.free }),
      ...(body.api_key === undefined ? {} : encryptKey(ctx.cipher, row, address, body.api_key)),
    });
    await record(tx, ctx, {
      action: "provider.update",
      target: row.id,
      data: {
        ...changes(toProvider(row), toProvider(changed)),
        ...(body.api_key === undefined ? {} : { api_key: "replaced" }),
      },
    });
    return toProvider(changed);
  });
}

/**
 * Checks that the actor can change the address of the provider. Prices and `free` are for the
 * vendor at the old address. Without this check, an actor who cannot change prices could call
 * another vendor, and the calls would count at the prices of the old one.
 * @throws ApiError `forbidden`
 */
async function permitMove(tx: WorkspaceTransaction, ctx: Context, row: ProviderRow): Promise<void> {
  if (scopesBeyond(ctx, ["limits:write"]).length === 0) return;
  if (!row.free && !(await hasPrices(tx, row))) return;
  throw new ApiError(
    "forbidden",
    `base_url: the provider ${row.name} ${row.free ? "is free" : "has prices"}, so a change of its ` +
      "address needs the scope limits:write as well. Ask an owner or admin of the workspace.",
  );
}
