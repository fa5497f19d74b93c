import { createKeyBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit, principalOf } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { orThrow } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parse, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, newCredential } from "../base/secrets/index.ts";
import { requireUnchangedRights } from "../credentials/index.ts";
import {
  expiryOf,
  maxExpiryOf,
  permitExpiry,
  permitGrant,
  permitOtherSecret,
  requireAgents,
  scopesOf,
} from "./grant.ts";
import { expiryInThePast, type KeyWithSecret, toKey } from "./key.ts";
import { insertSecret } from "./secret-store.ts";
import { insertKey } from "./store.ts";

const defaultExpiryDays = 90;

/**
 * Adds a key. Only this response contains the key's secret. By default it expires after 90 days,
 * but not after the key that creates it.
 * @throws ApiError `bad_request`; `forbidden` if the key could do more than the actor, or would
 *   expire later, or if the actor is a key with a ceiling; `not_found` for an unknown agent; the
 *   errors of `requireUnchangedRights`.
 */
export async function createKey({
  ctx,
  input,
}: {
  ctx: Context;
  input: { body: UnparsedBody };
}): Promise<Once<KeyWithSecret>> {
  permit(ctx, "keys:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      await requireUnchangedRights(tx, ctx);
      return addKey(tx, ctx, orThrow(input.body));
    }),
  );
}

/**
 * Adds a key in the caller's transaction. Checks that the key cannot do more than the actor. Unlike
 * `createKey`, it neither checks that the actor can add keys and still has its rights, nor applies
 * the Idempotency-Key: the caller must do both.
 * @throws ApiError in the other cases in which `createKey` does.
 */
export async function addKey(
  tx: WorkspaceTransaction,
  ctx: Context,
  given: unknown,
): Promise<KeyWithSecret> {
  const body = parse(createKeyBody, given);
  const grant = {
    scopes: [...(scopesOf(body, body.agent_ids) ?? [])],
    agent_ids: body.agent_ids && [...new Set(body.agent_ids)],
  };
  await requireAgents(tx, ctx, grant.agent_ids);
  permitGrant(ctx, grant);
  await permitOtherSecret(tx, ctx);
  const maxExpiry = await maxExpiryOf(tx, ctx);
  const row = await insertKey(tx, {
    id: newId("key"),
    workspace_id: ctx.workspaceId,
    name: body.name,
    ...grant,
    created_by: principalOf(ctx.actor),
    expiry: expiryOf(body) ?? { days: defaultExpiryDays, notAfter: maxExpiry },
  });
  permitExpiry(row.expires_at, maxExpiry);
  if (!row.lives) throw expiryInThePast();
  const key = newCredential("bkw_");
  await insertSecret(tx, row, hashCredential(key));
  const shown = toKey(row);
  await record(tx, ctx, {
    action: "key.create",
    target: row.id,
    data: { name: row.name, ...grant, expires_at: shown.expires_at },
  });
  return { ...shown, key };
}
