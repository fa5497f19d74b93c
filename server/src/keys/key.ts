import type { Key } from "@beckon/contract";
import { agentLimit, type Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { findKeyRow, type KeyRow, lockKeyRow } from "./store.ts";

/** A key and what its holder sends, in the one answer that shows it. */
export type KeyWithSecret = Key & { key: string };

export function toKey(row: KeyRow): Key {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    agent_ids: row.agent_ids,
    bootstrap: row.bootstrap,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
  };
}

/** The key; who is limited to agents sees keys that are limited to some of these. @throws ApiError `not_found` */
export async function requireKey(
  tx: WorkspaceTransaction,
  ctx: Context,
  keyId: string,
): Promise<KeyRow> {
  return found(await findKeyRow(tx, ctx.workspaceId, keyId, agentLimit(ctx)));
}

/**
 * The same, locked against other changes until the transaction ends.
 * @throws ApiError `not_found`; `conflict` for the bootstrap key, which the settings make what it is.
 */
export async function requireKeyForChange(
  tx: WorkspaceTransaction,
  ctx: Context,
  keyId: string,
): Promise<KeyRow> {
  const row = found(await lockKeyRow(tx, ctx.workspaceId, keyId, agentLimit(ctx)));
  if (!row.bootstrap) return row;
  throw new ApiError(
    "conflict",
    "The bootstrap key is what the operator's settings make it. To replace it, set BECKON_BOOTSTRAP_KEY to another value (or change the file in the data folder) and start Beckon again: the old one stops.",
  );
}

export function ended(): ApiError {
  return new ApiError(
    "bad_request",
    "expires_at: lies in the past. Give a time to come, or null for never; to end a key now, delete it.",
  );
}

function found(row: KeyRow | undefined): KeyRow {
  if (row !== undefined) return row;
  throw new ApiError("not_found", "There is no key with this id in this workspace.");
}
