import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { isKeySecret } from "./validity.ts";

/**
 * Returns a member's role, and prevents changes of it until the transaction ends; undefined if the
 * person is not a member.
 */
export async function lockRole(
  tx: WorkspaceTransaction,
  workspaceId: string,
  userId: string,
): Promise<string | undefined> {
  const member = await tx
    .selectFrom("members")
    .select("role")
    .where("workspace_id", "=", workspaceId)
    .where("user_id", "=", userId)
    .forShare()
    .executeTakeFirst();
  return member?.role;
}

/**
 * Returns what a key can do, and prevents changes of the key and its secret until the transaction
 * ends; undefined if the key or the secret is not valid. The lock is not `FOR SHARE`: two requests
 * by which a key changes itself would both have it, and then deadlock. Two keys that change each
 * other can still deadlock; `inWorkspace` repeats the transaction that PostgreSQL ends.
 */
export function lockKey(
  tx: WorkspaceTransaction,
  given: { readonly workspaceId: string; readonly id: string; readonly secretHash: Buffer },
): Promise<{ scopes: string[]; agent_ids: string[] | null } | undefined> {
  return tx
    .selectFrom("keys as k")
    .innerJoin("key_secrets as s", (join) => join.on(sql.raw<boolean>(isKeySecret("s", "k"))))
    .select(["k.scopes", "k.agent_ids"])
    .where("k.workspace_id", "=", given.workspaceId)
    .where("k.id", "=", given.id)
    .where("s.hash", "=", given.secretHash)
    .forNoKeyUpdate()
    .executeTakeFirst();
}
