import type { WorkspaceTransaction } from "../base/database/index.ts";

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
