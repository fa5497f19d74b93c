import { sql } from "kysely";
import type { Database, WorkspaceTransaction } from "../../base/database/index.ts";

interface Owner {
  readonly workspaceId: string;
  readonly agentId: string;
}

/** A stored secret without its value, and the origins it can be sent to. */
export interface KeptSecret {
  readonly id: string;
  readonly origins: readonly string[];
}

/** A stored secret with its encrypted value and the last four characters of the plain one. */
export interface SealedSecret extends KeptSecret {
  readonly sealed: string;
  readonly last4: string;
}

/** What a write of an agent changes about its secrets, in the same transaction. */
export interface SecretChange {
  /** New ones, and new values of such that there are. */
  readonly write: readonly SealedSecret[];
  readonly remove: readonly string[];
}

/** Lists the secrets of an agent without their values. */
export function listSecrets(
  tx: WorkspaceTransaction,
  { workspaceId, agentId }: Owner,
): Promise<KeptSecret[]> {
  return tx
    .selectFrom("agent_secrets")
    .select(["id", "origins"])
    .where("agent_id", "=", agentId)
    .where("workspace_id", "=", workspaceId)
    .execute();
}

/** Lists the secrets of an agent with their encrypted values, to copy or to re-encrypt them. */
export function listSealedSecrets(
  tx: WorkspaceTransaction,
  { workspaceId, agentId }: Owner,
): Promise<SealedSecret[]> {
  return tx
    .selectFrom("agent_secrets")
    .select(["id", "origins", "sealed", "last4"])
    .where("agent_id", "=", agentId)
    .where("workspace_id", "=", workspaceId)
    .execute();
}

/** Who calls this has locked the agent. */
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

/** Returns one secret of one agent, still encrypted, with the origins it was given for. */
export async function findSecret(
  database: Database,
  { workspaceId, agentId, id }: Owner & { readonly id: string },
): Promise<{ origins: string[]; sealed: string } | undefined> {
  const { rows } = await database.engine.query<{ origins: string[]; sealed: string }>({
    name: "find-agent-secret",
    text: "select origins, sealed from agent_secrets where id = $1 and agent_id = $2 and workspace_id = $3",
    values: [id, agentId, workspaceId],
  });
  return rows[0];
}
