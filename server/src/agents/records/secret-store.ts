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
  if (write.length === 0) return;
  await tx
    .insertInto("agent_secrets")
    .values(
      write.map((secret) => ({
        ...secret,
        origins: [...secret.origins],
        workspace_id: workspaceId,
        agent_id: agentId,
      })),
    )
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
