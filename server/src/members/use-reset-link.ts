import { type AccountContext, lockUser, resetPassword } from "../accounts/index.ts";
import { permit } from "../base/context.ts";
import type { UnparsedBody } from "../base/parse.ts";
import { findAbleIssuer } from "./issuer.ts";
import { opensOtherWorkspaces } from "./reset-password.ts";
import { findMemberRow, lockMembersAround } from "./store.ts";

/**
 * Sets a new password with a reset link, if the link's issuer still has the right to issue it. The
 * rule of `resetMemberPassword` is applied to the current memberships, roles and keys, which are
 * locked until the password is set.
 * @throws ApiError `bad_request`; `unauthorized` for an invalid link; `too_many_requests`
 */
export function useResetLink({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: UnparsedBody; firstWorkspaceId: string };
}): Promise<void> {
  const { body, firstWorkspaceId } = input;
  return resetPassword({
    ctx,
    input: {
      body,
      async isIssuable(tx, { user_id: userId, created_by: principal, created_in: workspaceId }) {
        await lockMembersAround(tx, workspaceId, userId);
        await lockUser(tx, userId);
        const actor = await findAbleIssuer(tx, { workspaceId, principal }, (issuer) =>
          permit(issuer, "workspaces:own"),
        );
        if (actor === undefined || (await findMemberRow(tx, workspaceId, userId)) === undefined)
          return false;
        return !(await opensOtherWorkspaces(
          tx,
          { actor, workspaceId },
          { userId, firstWorkspaceId },
        ));
      },
    },
  });
}
