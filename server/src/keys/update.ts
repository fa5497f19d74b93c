import { type Key, updateKeyBody } from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { expiryOf, permitGrant, requireAgents, scopesOf } from "./grant.ts";
import { ended, requireKeyForChange, toKey } from "./key.ts";
import { updateKeyRow } from "./store.ts";

/**
 * Changes what the key may do, with which agents, and until when; all processes go by it from the answer on. An expired key lives again.
 * @throws ApiError `forbidden` when the key could then do more than the actor.
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
    const row = await requireKeyForChange(tx, ctx, input.keyId);
    const body = parseBody(updateKeyBody, input.body);
    const agentIds =
      body.agent_ids === undefined ? row.agent_ids : body.agent_ids && [...new Set(body.agent_ids)];
    const scopes = scopesOf(body, agentIds);
    const expiry = expiryOf(body);
    if (body.agent_ids !== undefined) await requireAgents(tx, ctx, body.agent_ids);
    const grants = scopes !== undefined || body.agent_ids !== undefined || expiry !== undefined;
    if (grants) permitGrant(ctx, { scopes: scopes ?? row.scopes, agent_ids: agentIds });
    const changed = await updateKeyRow(tx, row, {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(scopes === undefined ? {} : { scopes: [...scopes] }),
      ...(body.agent_ids === undefined ? {} : { agent_ids: agentIds }),
      ...(expiry === undefined ? {} : { expiry }),
    });
    if (expiry !== undefined && !changed.lives) throw ended();
    await record(tx, ctx, {
      action: "key.update",
      target: row.id,
      data: changes(toKey(row), toKey(changed)),
    });
    return toKey(changed);
  });
}
