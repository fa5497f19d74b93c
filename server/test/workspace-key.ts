import { scopes as all } from "@beckon/contract";
import type { Database } from "../src/base/database/index.ts";
import { newId } from "../src/base/ids.ts";
import { hashCredential, newCredential } from "../src/base/secrets/index.ts";
import { defaultWorkspaceId } from "../src/workspaces/index.ts";

interface WithDatabase {
  readonly db: { readonly database: Database };
}

export interface KeyOptions {
  /** Default: every scope. */
  readonly scopes?: readonly string[];
  /** Default: `default`. */
  readonly workspaceId?: string;
  /** Seconds from now, negative for an expired key. Default: never. */
  readonly expiresIn?: number;
  /** Default: all agents. */
  readonly agentIds?: readonly string[];
}

/** Inserts a workspace key directly into the database. */
export async function insertKey(
  { db }: WithDatabase,
  { scopes = all, workspaceId = defaultWorkspaceId, expiresIn, agentIds }: KeyOptions = {},
): Promise<string> {
  const key = newCredential("bkw_");
  await db.database.engine.query(
    `with added as (
      insert into keys (id, workspace_id, name, scopes, agent_ids, created_by, expires_at)
      values ($1, $2, 'Test', $4, $6, 'test', now() + make_interval(secs => $5)) returning id, workspace_id
    ) insert into key_secrets (hash, key_id, workspace_id) select $3, id, workspace_id from added`,
    [newId("key"), workspaceId, hashCredential(key), scopes, expiresIn ?? null, agentIds ?? null],
  );
  return key;
}

/** Inserts a new workspace and a key of it with every scope. Returns the key. */
export async function insertStranger(beckon: WithDatabase): Promise<string> {
  const workspaceId = newId("wsp");
  await beckon.db.database.engine.query(
    "insert into workspaces (id, name) values ($1, 'Strangers')",
    [workspaceId],
  );
  return insertKey(beckon, { workspaceId });
}
