import { type Key, updateKeyBody } from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { requireUnchangedRights } from "../credentials/index.ts";
import {
  addsTo,
  expiryOf,
  maxExpiryOf,
  permitExpiry,
  permitGrant,
  requireAgents,
  scopesOf,
} from "./grant.ts";
import { expiryInThePast, requireKeyForChange, toKey } from "./key.ts";
import { updateKeyRow } from "./store.ts";

/**
 * Changes a key's name, scopes, agents or expiry. After the response, all processes check requests
 * against the changed key. A future expiry makes an expired key valid again.
 * @throws ApiError `bad_request`, `not_found`; `forbidden` if the changed key could do more than
 *   the actor, or if it gets a new expiry, scopes or agents and expires after the actor; `conflict`
 *   for the bootstrap key; the errors of `requireUnchangedRights`.
 */
export async function updateKey({
  ctx,
  input,
}: {
  ctx: Context;
  input: { keyId: string; body: UnparsedBody };
}): Promise<Key> {
  permit(ctx, "keys:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    await requireUnchangedRights(tx, ctx);
    const row = await requireKeyForChange(tx, ctx, input.keyId);
    const body = parseBody(updateKeyBody, input.body);
    const agentIds =
      body.agent_ids === undefined ? row.agent_ids : body.agent_ids && [...new Set(body.agent_ids)];
    const scopes = scopesOf(body, agentIds);
    const expiry = expiryOf(body);
    // Agents that the key has already can have been deleted since, and can be restored.
    const addedIds = body.agent_ids?.filter((id) => !row.agent_ids?.includes(id));
    await requireAgents(tx, ctx, addedIds ?? []);
    const changesGrant =
      scopes !== undefined || body.agent_ids !== undefined || expiry !== undefined;
    if (changesGrant) permitGrant(ctx, { scopes: scopes ?? row.scopes, agent_ids: agentIds });
    // A key that expires cannot add rights to a key that outlives it: they would stay.
    const limitsExpiry =
      expiry !== undefined || addsTo(row, { scopes: scopes ?? row.scopes, agent_ids: agentIds });
    // Read before the update, because the actor can be the key that is updated.
    const maxExpiry = limitsExpiry ? await maxExpiryOf(tx, ctx) : null;
    const changed = await updateKeyRow(tx, row, {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(scopes === undefined ? {} : { scopes: [...scopes] }),
      ...(body.agent_ids === undefined ? {} : { agent_ids: agentIds }),
      ...(expiry === undefined ? {} : { expiry }),
    });
    permitExpiry(changed.expires_at, maxExpiry);
    if (expiry !== undefined && !changed.lives) throw expiryInThePast();
    await record(tx, ctx, {
      action: "key.update",
      target: row.id,
      data: changes(toKey(row), toKey(changed)),
    });
    return toKey(changed);
  });
}
