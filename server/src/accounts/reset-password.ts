import { resetPasswordBody } from "@beckon/contract";
import { inAllWorkspaces, type WorkspaceTransaction } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import type { AccountContext } from "./account-context.ts";
import { hashPassword } from "./hash-password.ts";
import { findReset, type ResetRow, takeReset, updatePassword } from "./password-store.ts";
import { recordAct } from "./record-act.ts";
import { deleteSessionsOf } from "./session-store.ts";

const wrongLink =
  "This link does not stand: it was used, has expired, or a newer one took its place. Ask an owner of your workspace for another.";

/**
 * Sets a new password by a link that an owner handed out. The link works once; all sessions of the
 * person end.
 * @param input.isIssuable Whether the link's issuer could issue it now. Asked in the transaction
 *   that takes the link; it locks what it reads.
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
  ctx.guesses.permit();
  if (!isCredential("bkr_", body.token)) throw ctx.guesses.wrong(wrongLink);
  const { tenant } = ctx.database;
  const link = hashCredential(body.token);
  const find = async (tx: WorkspaceTransaction) => {
    const row = await findReset(tx, link);
    return row !== undefined && (await input.isIssuable(tx, row)) ? row.user_id : undefined;
  };
  // A hash is dear, and for holders of a link only.
  if ((await inAllWorkspaces(tenant, find)) === undefined) throw ctx.guesses.wrong(wrongLink);
  const hash = await hashPassword(body.new_password);
  await inAllWorkspaces(tenant, async (tx) => {
    const userId = await find(tx);
    // It may have been used, replaced or dropped while `find` waited for its locks.
    if (userId === undefined || !(await takeReset(tx, link))) throw ctx.guesses.wrong(wrongLink);
    await updatePassword(tx, userId, { hash });
    await deleteSessionsOf(tx, userId);
    await recordAct(
      tx,
      { userId, address: ctx.address },
      { action: "password.reset", target: userId },
    );
  });
}
