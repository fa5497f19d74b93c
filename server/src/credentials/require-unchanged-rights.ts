import { isDeepStrictEqual } from "node:util";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { lockKey, lockRole } from "./store.ts";
import { unauthorizedMessage } from "./unauthorized.ts";

/**
 * Checks that the actor still has the role, or the scopes and agents, with which the request was
 * authenticated, and prevents changes of them until the transaction ends. Without this check, a
 * member who is removed, or a leaked key that is rotated, could create a key that stays.
 * @throws ApiError `forbidden`; `unauthorized` if the actor is a key that is no longer valid, or
 *   whose secret is not.
 */
export async function requireUnchangedRights(
  tx: WorkspaceTransaction,
  { workspaceId, actor }: Pick<Context, "workspaceId" | "actor">,
): Promise<void> {
  if (actor.kind === "user" && (await lockRole(tx, workspaceId, actor.id)) !== actor.role)
    throw new ApiError(
      "forbidden",
      "Your role in this workspace was just changed. Check your role and try again.",
    );
  if (actor.kind !== "key") return;
  if (actor.secretHash === undefined) throw new Error("a key sends requests with a secret");
  const key = await lockKey(tx, { workspaceId, id: actor.id, secretHash: actor.secretHash });
  if (key === undefined) throw new ApiError("unauthorized", unauthorizedMessage);
  if (!isDeepStrictEqual([key.scopes, key.agent_ids], [actor.scopes, actor.agentIds]))
    throw new ApiError(
      "forbidden",
      "This key was just changed. Check its scopes and agents and try again.",
    );
}
