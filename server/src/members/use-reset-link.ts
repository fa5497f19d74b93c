import type { ResetCheck } from "@beckon/contract";
import {
  type AccountContext,
  checkReset,
  lockUser,
  type ResetRow,
  resetPassword,
} from "../accounts/index.ts";
import { permit } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import type { UnparsedBody } from "../base/parse.ts";
import { findAbleIssuer } from "./issuer.ts";
import { permitRole } from "./member.ts";
import { isIssuer, opensOtherWorkspaces } from "./reset-password.ts";
import { findMemberRow, lockMembersAround } from "./store.ts";

interface LinkUse {
  ctx: AccountContext;
  input: { body: UnparsedBody; firstWorkspaceId: string };
}

/**
 * Sets a new password with a reset link, if the link's issuer still has the right to issue it.
 * @throws ApiError `bad_request`; `unauthorized` for an invalid link; `too_many_requests`,
 *   `unavailable`
 */
export function useResetLink({ ctx, input }: LinkUse): Promise<void> {
  const { body, firstWorkspaceId } = input;
  return resetPassword({ ctx, input: { body, isIssuable: isIssuable(firstWorkspaceId) } });
}

/**
 * Returns the person whose password a reset link sets, to show before the link is used. Changes
 * nothing.
 * @throws ApiError `bad_request`; `unauthorized` for an invalid link; `too_many_requests`
 */
export function checkResetLink({ ctx, input }: LinkUse): Promise<ResetCheck> {
  const { body, firstWorkspaceId } = input;
  return checkReset({ ctx, input: { body, isIssuable: isIssuable(firstWorkspaceId) } });
}

/**
 * Returns whether the issuer of a reset link could still issue it by the rules of
 * `resetMemberPassword`. Locks the memberships, roles and keys that it reads until the transaction
 * ends.
 */
const isIssuable =
  (firstWorkspaceId: string) =>
  async (
    tx: WorkspaceTransaction,
    { user_id: userId, created_by: principal, created_in: workspaceId }: ResetRow,
  ): Promise<boolean> => {
    await lockMembersAround(tx, workspaceId, userId);
    await lockUser(tx, userId);
    const member = await findMemberRow(tx, workspaceId, userId);
    if (member === undefined) return false;
    const actor = await findAbleIssuer(tx, { workspaceId, principal }, (issuer) => {
      permit(issuer, "workspaces:own");
      permitRole(issuer, member.role);
    });
    if (actor === undefined || isIssuer(actor, userId)) return false;
    return !(await opensOtherWorkspaces(tx, { actor, workspaceId }, { userId, firstWorkspaceId }));
  };
