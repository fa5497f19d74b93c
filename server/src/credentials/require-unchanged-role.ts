import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { lockRole } from "./role-store.ts";

/**
 * Checks that the actor still has the role with which the request was authenticated, and prevents
 * changes of it until the transaction ends. Without this check, a member who is removed during the
 * request could, for example, create a key that stays.
 * @throws ApiError `forbidden`
 */
export async function requireUnchangedRole(
  tx: WorkspaceTransaction,
  { workspaceId, actor }: Pick<Context, "workspaceId" | "actor">,
): Promise<void> {
  if (actor.kind !== "user") return;
  if ((await lockRole(tx, workspaceId, actor.id)) !== actor.role)
    throw new ApiError(
      "forbidden",
      "Your role in this workspace was just changed. Check your role and try again.",
    );
}
