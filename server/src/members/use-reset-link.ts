import { type AccountContext, lockUser, resetPassword } from "../accounts/index.ts";
import { permit } from "../base/context.ts";
import type { UnparsedBody } from "../base/parse.ts";
import { findAbleIssuer } from "./issuer.ts";
import { opensMore } from "./reset-password.ts";
import { findMemberRow, lockMembersAround } from "./store.ts";

/**
 * Sets a new password by a link, if its issuer could make the link now: the rule of
 * `resetMemberPassword` on the memberships, roles and keys of this moment, all of them locked.
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
        return !(await opensMore(tx, { actor, workspaceId }, { userId, firstWorkspaceId }));
      },
    },
  });
}
