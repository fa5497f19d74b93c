import { sql } from "kysely";
import type { Database, WorkspaceTransaction } from "../../base/database/index.ts";

interface Owner {
  readonly workspaceId: string;
  readonly agentId: string;
}

/** A stored secret without its value, and the origins it can be sent to. */
export interface StoredSecret {
  readonly id: string;
  readonly origins: readonly string[];
}

/** A stored secret with its encrypted value and the last four characters of its plain text. */
export interface EncryptedSecret extends StoredSecret {
  readonly sealed: string;
  readonly last4: string;
}

/** The secrets to write and to delete when an agent is changed. */
export interface SecretChange {
  /** Secrets to insert, or to update if their id exists. */
  readonly write: readonly EncryptedSecret[];
  /** Ids of secrets to delete. */
  readonly remove: readonly string[];
}

/** Lists the secrets of an agent without their values. */
export function listSecrets(
  tx: WorkspaceTransaction,
  { workspaceId, agentId }: Owner,
): Promise<StoredSecret[]> {
  return tx
    .selectFrom("agent_secrets")
    .select(["id", "origins"])
    .where("agent_id", "=", agentId)
    .where("workspace_id", "=", workspaceId)
    .execute();
}

/** Lists the secrets of an agent with their encrypted values, to copy them. */
export function listEncryptedSecrets(
  tx: WorkspaceTransaction,
  { workspaceId, agentId }: Owner,
): Promise<EncryptedSecret[]> {
  return tx
    .selectFrom("agent_secrets")
    .select(["id", "origins", "sealed", "last4"])
    .where("agent_id", "=", agentId)
    .where("workspace_id", "=", workspaceId)
    .execute();
}

/**
 * Inserts, updates and deletes secrets of an agent. The caller must have inserted or locked the
 * agent's row in this transaction.
 */
export async function writeSecrets(
  tx: WorkspaceTransaction,
  { workspaceId, agentId }: Owner,
  { write, remove }: SecretChange,
): Promise<void> {
  if (remove.length > 0) {
    await tx
      .deleteFrom("agent_secrets")
      .where("id", "in", remove)
      .where("agent_id", "=", agentId)
      .where("workspace_id", "=", workspaceId)
      .execute();
  }
  await upsertSecrets(
    tx,
    write.map((secret) => ({ ...secret, workspaceId, agentId })),
  );
}

/**
 * Each row has six parameters, and a statement has at most 65,535. Building a statement of as many
 * would keep other requests waiting.
 */
const maxRowsPerStatement = 1_000;

/** Inserts secrets of one or more agents, or updates those whose id exists. */
export async function upsertSecrets(
  tx: WorkspaceTransaction,
  secrets: readonly (EncryptedSecret & Owner)[],
): Promise<void> {
  const rows = secrets.map(({ workspaceId, agentId, origins, ...secret }) => ({
    ...secret,
    origins: [...origins],
    workspace_id: workspaceId,
    agent_id: agentId,
  }));
  for (let from = 0; from < rows.length; from += maxRowsPerStatement) {
    await tx
      .insertInto("agent_secrets")
      .values(rows.slice(from, from + maxRowsPerStatement))
      .onConflict((conflict) =>
        conflict.columns(["id", "workspace_id"]).doUpdateSet((eb) => ({
          origins: eb.ref("excluded.origins"),
          sealed: eb.ref("excluded.sealed"),
          last4: eb.ref("excluded.last4"),
          updated_at: sql<Date>`now()`,
        })),
      )
      .execute();
  }
}

/**
 * Returns one secret of one agent, still encrypted, with the origins it can be sent to; undefined
 * if the agent has no secret with this id.
 */
export async function findSecret(
  database: Database,
  { workspaceId, agentId, id }: Owner & { readonly id: string },
): Promise<{ origins: string[]; sealed: string } | undefined> {
  const { rows } = await database.engine.query<{ origins: string[]; sealed: string }>({
    name: "find-agent-secret",
    text: `select origins, sealed from agent_secrets
      where id = $1 and agent_id = $2 and workspace_id = $3`,
    values: [id, agentId, workspaceId],
  });
  return rows[0];
}
