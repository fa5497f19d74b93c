import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";

export async function deleteBootstrapKey(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<void> {
  await tx
    .deleteFrom("keys")
    .where("workspace_id", "=", workspaceId)
    .where("bootstrap", "=", true)
    .execute();
}

/** Inserts the workspace's bootstrap key or updates its scopes. */
export async function upsertBootstrapKey(
  tx: WorkspaceTransaction,
  key: { id: string; workspaceId: string; scopes: string[] },
): Promise<{ id: string; workspace_id: string }> {
  return tx
    .insertInto("keys")
    .values({
      id: key.id,
      workspace_id: key.workspaceId,
      name: "bootstrap",
      scopes: key.scopes,
      bootstrap: true,
      created_by: "system",
    })
    .onConflict((conflict) =>
      conflict
        .column("workspace_id")
        .where("bootstrap", "=", true)
        .doUpdateSet({ scopes: key.scopes, updated_at: sql<Date>`now()` }),
    )
    .returning(["id", "workspace_id"])
    .executeTakeFirstOrThrow();
}
