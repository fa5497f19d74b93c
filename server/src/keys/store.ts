import { type Selectable, sql } from "kysely";
import type { Database, Tables, WorkspaceTransaction } from "../base/database/index.ts";
import type { PageRequest } from "../base/page.ts";
import { isKeySecret, isUnexpired } from "../credentials/index.ts";

export type KeyRow = Selectable<Tables["keys"]> & {
  /** Whether the key has not expired, by the database's clock. */
  lives: boolean;
};

/**
 * When a key expires: in days from now but not after `notAfter` if it is given, at a time, or
 * never.
 */
export type Expiry =
  | { readonly days: number; readonly notAfter?: Date | null }
  | { readonly at: Date }
  | "never";

// Adds hours and not days, because PostgreSQL adds days in the session's time zone, where a day can
// have 23 or 25 hours.
const timeOf = (expiry: Expiry) =>
  expiry === "never"
    ? null
    : "at" in expiry
      ? expiry.at
      : sql<Date>`least(
          now() + make_interval(hours => ${24 * expiry.days}),
          ${expiry.notAfter ?? null}::timestamptz
        )`;

const lives = sql.raw<boolean>(isUnexpired("keys")).as("lives");

export function insertKey(
  tx: WorkspaceTransaction,
  {
    expiry,
    ...row
  }: {
    id: string;
    workspace_id: string;
    name: string;
    scopes: string[];
    agent_ids: string[] | null;
    bootstrap?: boolean;
    created_by: string;
  } & {
    expiry: Expiry;
  },
): Promise<KeyRow> {
  return tx
    .insertInto("keys")
    .values({ ...row, expires_at: timeOf(expiry) })
    .returningAll()
    .returning(lives)
    .executeTakeFirstOrThrow();
}

/**
 * Returns the key with this id, or undefined.
 * @param agentIds If given, a key is only found if it is limited to a subset of these agents.
 */
export function findKeyRow(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
  agentIds: readonly string[] | undefined,
) {
  return within(tx, workspaceId, agentIds).where("id", "=", id).executeTakeFirst();
}

/**
 * Finds a key as `findKeyRow` does, and locks its row against other changes until the transaction
 * ends.
 */
export function lockKeyRow(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
  agentIds: readonly string[] | undefined,
) {
  return within(tx, workspaceId, agentIds).where("id", "=", id).forNoKeyUpdate().executeTakeFirst();
}

/** Returns when an existing key expires; null for never. */
export async function findExpiry(tx: WorkspaceTransaction, keyId: string): Promise<Date | null> {
  const { expires_at } = await tx
    .selectFrom("keys")
    .select("expires_at")
    .where("id", "=", keyId)
    .executeTakeFirstOrThrow();
  return expires_at;
}

/** Returns whether the key has a ceiling of its own. */
export async function hasCeiling(tx: WorkspaceTransaction, keyId: string): Promise<boolean> {
  const row = await tx
    .selectFrom("keys as k")
    .innerJoin("ceilings as c", (join) =>
      join.onRef("c.workspace_id", "=", "k.workspace_id").onRef("c.scope_id", "=", "k.id"),
    )
    .select("c.scope_id")
    .where("k.id", "=", keyId)
    .where("c.scope_kind", "=", "key")
    .executeTakeFirst();
  return row !== undefined;
}

export function listKeyRows(
  tx: WorkspaceTransaction,
  workspaceId: string,
  agentIds: readonly string[] | undefined,
  page: PageRequest,
): Promise<KeyRow[]> {
  const query = within(tx, workspaceId, agentIds)
    .orderBy("id", "desc")
    .limit(page.limit + 1);
  return (page.below === undefined ? query : query.where("id", "<", page.below)).execute();
}

function within(
  tx: WorkspaceTransaction,
  workspaceId: string,
  agentIds: readonly string[] | undefined,
) {
  const query = tx
    .selectFrom("keys")
    .selectAll()
    .select(lives)
    .where("workspace_id", "=", workspaceId);
  return agentIds === undefined
    ? query
    : query.where(sql<boolean>`agent_ids <@ ${[...agentIds]}::text[]`);
}

export function updateKeyRow(
  tx: WorkspaceTransaction,
  row: KeyRow,
  {
    expiry,
    ...change
  }: { name?: string; scopes?: string[]; agent_ids?: string[] | null; expiry?: Expiry },
): Promise<KeyRow> {
  return tx
    .updateTable("keys")
    .set({
      ...change,
      ...(expiry === undefined ? {} : { expires_at: timeOf(expiry) }),
      updated_at: sql<Date>`now()`,
    })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .returning(lives)
    .executeTakeFirstOrThrow();
}

/** Deletes the key. Its secrets are deleted by cascade. */
export async function deleteKeyRow(tx: WorkspaceTransaction, row: KeyRow): Promise<void> {
  await tx
    .deleteFrom("keys")
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .execute();
}

/**
 * Returns the key, locked `FOR SHARE` until the transaction ends; undefined if it does not exist or
 * has expired.
 */
export async function lockValidKey(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
): Promise<FoundKey | undefined> {
  const row = await within(tx, workspaceId, undefined)
    .where("id", "=", id)
    .forShare()
    .executeTakeFirst();
  return row?.lives ? toFoundKey(row) : undefined;
}

/** Returns those of the keys that exist and have not expired. Locks nothing. */
export async function findValidKeys(
  tx: WorkspaceTransaction,
  workspaceId: string,
  ids: readonly string[],
): Promise<FoundKey[]> {
  if (ids.length === 0) return [];
  const rows = await within(tx, workspaceId, undefined).where("id", "in", ids).execute();
  return rows.filter(({ lives }) => lives).map(toFoundKey);
}

/**
 * Returns those of the given ids whose agent exists and is not deleted. Reads the table `agents`
 * itself, because this module must not import `agents/`, which is in a layer above.
 */
export async function existingAgents(
  tx: WorkspaceTransaction,
  workspaceId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await tx
    .selectFrom("agents")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "in", ids)
    .where("deleted_at", "is", null)
    .execute();
  return rows.map((row) => row.id);
}

/** A valid key, with what it can do. */
export interface FoundKey {
  readonly id: string;
  readonly workspaceId: string;
  readonly scopes: string[];
  readonly agentIds: string[] | null;
}

function toFoundKey({
  id,
  workspace_id: workspaceId,
  scopes,
  agent_ids: agentIds,
}: Pick<KeyRow, "id" | "workspace_id" | "scopes" | "agent_ids">): FoundKey {
  return { id, workspaceId, scopes, agentIds };
}

/**
 * Returns the key of a secret; undefined if there is none, or if the key or the secret has expired.
 * Reads all workspaces, because the workspace is not known before the key.
 * @param hash SHA-256 of the secret.
 */
export async function findKeyBySecret(
  database: Database,
  hash: Buffer,
): Promise<FoundKey | undefined> {
  const { rows } = await database.engine.query<{
    id: string;
    workspace_id: string;
    scopes: string[];
    agent_ids: string[] | null;
  }>({
    name: "find-key",
    text: `select k.id, k.workspace_id, k.scopes, k.agent_ids
      from key_secrets s join keys k on ${isKeySecret("s", "k")}
      where s.hash = $1`,
    values: [hash],
  });
  return rows[0] && toFoundKey(rows[0]);
}
