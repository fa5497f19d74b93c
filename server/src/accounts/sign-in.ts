import { signInBody, type User } from "@beckon/contract";
import { inAllWorkspaces } from "../base/database/index.ts";
import type { ApiError } from "../base/errors.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { AccountContext } from "./account-context.ts";
import { findAccount } from "./find-account.ts";
import { holdPassword } from "./password-store.ts";
import { recordAct } from "./record-act.ts";
import { deleteExpired, deleteSessionOfToken } from "./session-store.ts";
import { findUser } from "./store.ts";
import { toUser } from "./user.ts";

/**
 * Signs in with the account of this e-mail and password, as `findAccount` finds it: who the person
 * is, and the cookies that say so from now on. Nobody is handed a session that is not on record:
 * the record is written before the answer, and without it there is none.
 * @throws ApiError `unauthorized`, the same for an unknown e-mail and a wrong password, and after
 *   the same time.
 */
export async function signIn({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: UnparsedBody };
}): Promise<{ data: User; cookies: readonly string[] }> {
  const { email, password, workspace_id: workspaceId } = parseBody(signInBody, input.body);
  ctx.guesses.permit();
  const { tenant } = ctx.database;
  const { account } = await findAccount(ctx.database, { email, password, workspaceId });
  if (account === undefined) throw wrongPassword(ctx, { email, workspaceId });
  const userId = account.user.id;
  const session = await ctx.auth.startSession({
    userId,
    address: ctx.address,
    userAgent: ctx.userAgent,
  });
  const data = await inAllWorkspaces(tenant, async (tx) => {
    // A new password ends all sessions, and must not miss this one, which was made with the old one at the same moment.
    const stands = (await holdPassword(tx, userId)) === account.passwordHash;
    const row = stands ? await findUser(tx, userId) : undefined;
    if (row === undefined) return deleteSessionOfToken(tx, session.token);
    await deleteExpired(tx, row.id);
    await recordAct(
      tx,
      { userId: row.id, address: ctx.address },
      { action: "session.create", target: row.id },
    );
    return toUser(row);
  });
  if (data === undefined) throw wrongPassword(ctx, { email, workspaceId });
  return { data, cookies: session.cookies };
}

/**
 * Returns one answer for an unknown e-mail and a wrong password, so that it tells nothing about who
 * has an account.
 */
export function wrongPassword(
  ctx: AccountContext,
  given: { email: string; workspaceId?: string | undefined },
): ApiError {
  ctx.refusedSignIns.note({ ...given, address: ctx.address });
  return ctx.guesses.wrong(
    "The e-mail or the password is wrong. If several accounts use this e-mail, name your workspace: workspace_id. If the password is lost, ask an owner of your workspace for a link to set a new one.",
  );
}
