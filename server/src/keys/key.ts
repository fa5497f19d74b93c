import type { Key } from "@beckon/contract";
import { agentLimit, type Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { findKeyRow, type KeyRow, lockKeyRow } from "./store.ts";

/** A key with its secret. Only the responses that create or rotate the secret contain it. */
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

/**
 * Returns the key. An actor that can access only certain agents sees only keys that are limited to
 * some or all of these agents.
 * @throws ApiError `not_found` if the key does not exist or the actor cannot see it.
 */
export async function requireKey(
  tx: WorkspaceTransaction,
  ctx: Context,
  keyId: string,
): Promise<KeyRow> {
  return orNotFound(await findKeyRow(tx, ctx.workspaceId, keyId, agentLimit(ctx)));
}

/**
 * Returns the key as `requireKey` does and locks its row against other changes until the
 * transaction ends.
 * @throws ApiError `not_found`; `conflict` for the bootstrap key, which is changed by settings
 *   only.
 */
export async function requireKeyForChange(
  tx: WorkspaceTransaction,
  ctx: Context,
  keyId: string,
): Promise<KeyRow> {
  const row = orNotFound(await lockKeyRow(tx, ctx.workspaceId, keyId, agentLimit(ctx)));
  if (!row.bootstrap) return row;
  throw new ApiError(
    "conflict",
    "The bootstrap key can only be changed in the operator's settings. To replace it, set BECKON_BOOTSTRAP_KEY to another value (or change the file in the data folder) and restart Beckon.",
  );
}

export function expiryInThePast(): ApiError {
  return new ApiError(
    "bad_request",
    "expires_at is in the past. Send a future time, or null for no expiry; to revoke the key now, delete it.",
  );
}

function orNotFound(row: KeyRow | undefined): KeyRow {
  if (row !== undefined) return row;
  throw new ApiError("not_found", "There is no key with this id in this workspace.");
}
