import type { WorkspaceTransaction } from "../base/database/index.ts";

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
