import { type Selectable, sql } from "kysely";
import type { Database, Tables, WorkspaceTransaction } from "../base/database/index.ts";
import type { PageRequest } from "../base/page.ts";

export type ProviderRow = Selectable<Tables["providers"]>;

/** Selects the workspace's providers that are not deleted. */
const living = (tx: WorkspaceTransaction, workspaceId: string) =>
  tx
    .selectFrom("providers")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("deleted_at", "is", null);

export function findProvider(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
): Promise<ProviderRow | undefined> {
  return living(tx, workspaceId).where("id", "=", id).executeTakeFirst();
}

export function findProviderForUpdate(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
): Promise<ProviderRow | undefined> {
  return living(tx, workspaceId).where("id", "=", id).forUpdate().executeTakeFirst();
}

/**
 * Returns the providers with these names. Locks their rows against deletion until the transaction
 * ends, because the caller stores references to the providers.
 */
export async function findProvidersByName(
  tx: WorkspaceTransaction,
  workspaceId: string,
  names: readonly string[],
): Promise<ProviderRow[]> {
  if (names.length === 0) return [];
  return living(tx, workspaceId).where("name", "in", names).forShare().execute();
}

/** Returns the elements of `names` that are names of the workspace's providers. */
export async function findProviderNames(
  tx: WorkspaceTransaction,
  workspaceId: string,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const rows = await living(tx, workspaceId)
    .clearSelect()
    .select("name")
    .where("name", "in", names)
    .execute();
  return rows.map((row) => row.name);
}

/**
 * Returns the first 20 provider names of the workspace in alphabetical order, for an error message.
 */
export async function listProviderNames(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<string[]> {
  const rows = await living(tx, workspaceId)
    .clearSelect()
    .select("name")
    .orderBy("name")
    .limit(20)
    .execute();
  return rows.map((row) => row.name);
}

export function listProviderRows(
  tx: WorkspaceTransaction,
  workspaceId: string,
  page: PageRequest,
): Promise<ProviderRow[]> {
  const query = living(tx, workspaceId)
    .orderBy("id", "desc")
    .limit(page.limit + 1);
  return (page.below === undefined ? query : query.where("id", "<", page.below)).execute();
}

export function insertProvider(
  tx: WorkspaceTransaction,
  row: {
    id: string;
    workspace_id: string;
    name: string;
    kind: string;
    base_url: string | null;
    free: boolean;
  } & EncryptedKey,
): Promise<ProviderRow> {
  return tx.insertInto("providers").values(row).returningAll().executeTakeFirstOrThrow();
}

export type EncryptedKey = Pick<ProviderRow, "api_key_sealed" | "api_key_last4" | "api_key_url">;

export function updateProviderRow(
  tx: WorkspaceTransaction,
  row: ProviderRow,
  change: Partial<EncryptedKey & { base_url: string | null; free: boolean }>,
): Promise<ProviderRow> {
  return tx
    .updateTable("providers")
    .set({ ...change, updated_at: sql<Date>`clock_timestamp()` })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Marks the provider as deleted and removes its key and its prices. Runs of older agent versions
 * that use this provider then fail with a clear error.
 */
export async function deleteProviderRow(tx: WorkspaceTransaction, row: ProviderRow): Promise<void> {
  await tx
    .updateTable("providers")
    .set({
      deleted_at: sql<Date>`now()`,
      updated_at: sql<Date>`clock_timestamp()`,
      api_key_sealed: null,
      api_key_last4: null,
      api_key_url: null,
    })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .execute();
  await tx
    .deleteFrom("prices")
    .where("provider_id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .execute();
}

/** Returns whether the workspace set a price for a model of the provider. */
export async function hasPrices(tx: WorkspaceTransaction, row: ProviderRow): Promise<boolean> {
  const price = await tx
    .selectFrom("prices")
    .select("id")
    .where("provider_id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .limit(1)
    .executeTakeFirst();
  return price !== undefined;
}

/**
 * Returns the names of at most 5 agents whose current version uses the provider. Reads the tables
 * of `agents/` in the caller's transaction, which must have locked the provider's row:
 * `resolveModel` waits for this lock, so no agent is given the provider until the transaction ends.
 */
export async function agentsUsingProvider(
  tx: WorkspaceTransaction,
  row: ProviderRow,
): Promise<string[]> {
  const rows = await tx
    .selectFrom("agents")
    .innerJoin("agent_versions", (join) =>
      join
        .onRef("agent_versions.agent_id", "=", "agents.id")
        .onRef("agent_versions.workspace_id", "=", "agents.workspace_id")
        .onRef("agent_versions.version", "=", "agents.version"),
    )
    .select("agents.name")
    .where("agents.workspace_id", "=", row.workspace_id)
    .where("agents.deleted_at", "is", null)
    .where("agent_versions.provider_id", "=", row.id)
    .limit(5)
    .execute();
  return rows.map((agent) => agent.name);
}

/** The columns of a provider that contain its name, address and key. */
export type ConnectionRow = Pick<
  ProviderRow,
  "id" | "workspace_id" | "name" | "kind" | "base_url" | "api_key_sealed" | "api_key_url"
>;

/**
 * Returns a provider's columns for the process that executes runs; undefined if the provider was
 * deleted.
 */
export async function findConnection(
  database: Database,
  provider: { id: string; workspaceId: string },
): Promise<ConnectionRow | undefined> {
  const { rows } = await database.engine.query<ConnectionRow>({
    name: "find-connection",
    text: `select id, workspace_id, name, kind, base_url, api_key_sealed, api_key_url from providers
      where id = $1 and workspace_id = $2 and deleted_at is null`,
    values: [provider.id, provider.workspaceId],
  });
  return rows[0];
}
