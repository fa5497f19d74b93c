import type { Database, WorkspaceTransaction } from "../base/database/index.ts";

export async function deleteBootstrapKey(tx: WorkspaceTransaction, workspaceId: string): Promise<void> {
  await tx.deleteFrom("keys").where("workspace_id", "=", workspaceId).where("bootstrap", "=", true).execute();
}

export async function upsertBootstrapKey(
  tx: WorkspaceTransaction,
  key: { id: string; workspaceId: string; hash: Buffer; scopes: string[] },
): Promise<void> {
  await tx
    .insertInto("keys")
    .values({ id: key.id, workspace_id: key.workspaceId, name: "bootstrap", hash: key.hash, scopes: key.scopes, bootstrap: true })
    .onConflict((conflict) =>
      conflict.column("workspace_id").where("bootstrap", "=", true).doUpdateSet({ hash: key.hash, scopes: key.scopes }),
    )
    .execute();
}

/** The living key with this hash. Runs under all workspaces, since it is what tells the workspace. */
export async function findKey(
  database: Database,
  hash: Buffer,
): Promise<{ id: string; workspaceId: string; scopes: string[] } | undefined> {
  const { rows } = await database.engine.query<{ id: string; workspace_id: string; scopes: string[] }>({
    name: "find-key",
    text: "select id, workspace_id, scopes from keys where hash = $1 and (expires_at is null or expires_at > now())",
    values: [hash],
  });
  const row = rows[0];
  return row && { id: row.id, workspaceId: row.workspace_id, scopes: row.scopes };
}
