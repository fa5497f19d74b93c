import { checkLinkBody, type ResetCheck } from "@beckon/contract";
import { inAllWorkspaces, type WorkspaceTransaction } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import type { AccountContext } from "./account-context.ts";
import { findReset, type ResetRow } from "./password-store.ts";
import { invalidResetMessage } from "./reset-password.ts";
import { findUser } from "./store.ts";

/**
 * Returns whose password a reset link sets, and the workspace in which it was issued. Changes
 * nothing. An invalid token counts as a failed attempt, as in `resetPassword`.
 * @param input.isIssuable Returns whether the link's issuer still has the right to issue the link.
 * @throws ApiError `bad_request`; `unauthorized` for an invalid link; `too_many_requests`
 */
export async function checkReset({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: {
    body: UnparsedBody;
    isIssuable: (tx: WorkspaceTransaction, reset: ResetRow) => Promise<boolean>;
  };
}): Promise<ResetCheck> {
  const { token } = parseBody(checkLinkBody, input.body);
  ctx.failedAttempts.permit();
  const link = isCredential("bkr_", token)
    ? await inAllWorkspaces(ctx.database.tenant, async (tx) => {
        const row = await findReset(tx, hashCredential(token));
        if (row === undefined || !(await input.isIssuable(tx, row))) return undefined;
        const user = await findUser(tx, row.user_id);
        return user && { name: user.name, email: user.email, workspace_id: row.created_in };
      })
    : undefined;
  if (link === undefined) throw ctx.failedAttempts.count(invalidResetMessage);
  return link;
}
