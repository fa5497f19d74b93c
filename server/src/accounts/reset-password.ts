import { resetPasswordBody } from "@beckon/contract";
import { inAllWorkspaces, type WorkspaceTransaction } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import type { AccountContext } from "./account-context.ts";
import { hashPassword } from "./hash-password.ts";
import { findReset, type ResetRow, takeReset, updatePassword } from "./password-store.ts";
import { recordAccountAction } from "./record-account-action.ts";
import { deleteSessionsOf } from "./session-store.ts";

export const invalidResetMessage =
  "This reset link is no longer valid: it was used, has expired or was replaced. Ask an owner of your workspace for a new one.";

/**
 * Sets a new password with a reset link, which can be used once. Deletes all sessions of the
 * person.
 * @param input.isIssuable Returns whether the link's issuer still has the right to issue the link.
 *   It runs before the new password is hashed, and again in the transaction that deletes the link.
 *   It must lock the rows that it reads, so that the right cannot be withdrawn before the
 *   transaction ends.
 * @throws ApiError `bad_request`; `unauthorized` for an invalid link; `too_many_requests`,
 *   `unavailable`
 */
export async function resetPassword({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: {
    body: UnparsedBody;
    isIssuable: (tx: WorkspaceTransaction, reset: ResetRow) => Promise<boolean>;
  };
}): Promise<void> {
  const body = parseBody(resetPasswordBody, input.body);
  ctx.failedAttempts.permit();
  if (!isCredential("bkr_", body.token)) throw ctx.failedAttempts.count(invalidResetMessage);
  const { tenant } = ctx.database;
  const link = hashCredential(body.token);
  const find = async (tx: WorkspaceTransaction) => {
    const row = await findReset(tx, link);
    return row !== undefined && (await input.isIssuable(tx, row)) ? row.user_id : undefined;
  };
  // Hashing is expensive, so it is only done for a link that is valid now.
  if ((await inAllWorkspaces(tenant, find)) === undefined)
    throw ctx.failedAttempts.count(invalidResetMessage);
  const hash = await hashPassword(body.new_password, ctx.address);
  await inAllWorkspaces(tenant, async (tx) => {
    const userId = await find(tx);
    // The link may have been used, replaced or deleted while `find` waited for locks.
    if (userId === undefined || !(await takeReset(tx, link)))
      throw ctx.failedAttempts.count(invalidResetMessage);
    await updatePassword(tx, userId, { hash });
    await deleteSessionsOf(tx, userId);
    await recordAccountAction(
      tx,
      { userId, address: ctx.address },
      { action: "password.reset", target: userId },
    );
  });
}
