import { signInBody, type User } from "@beckon/contract";
import { inAllWorkspaces } from "../base/database/index.ts";
import type { Refusal } from "../base/errors.ts";
import { parse } from "../base/parse.ts";
import type { AccountContext } from "./account-context.ts";
import { findPassword, holdPassword } from "./password-store.ts";
import { recordAct } from "./record-act.ts";
import { deleteExpired, deleteSessionOfToken } from "./session-store.ts";
import { findUser, findUserByEmail } from "./store.ts";
import { toUser } from "./user.ts";

/**
 * Who the person is, and the cookies that say so from now on. Nobody is handed a session that is not on record: the record is written before
 * the answer, and without it there is none.
 * @throws Refusal `unauthorized`, the same for an unknown e-mail and a wrong password, and after the same time.
 */
export async function signIn({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: unknown };
}): Promise<{ data: User; cookies: readonly string[] }> {
  const { email, password } = parse(signInBody, input.body);
  ctx.guesses.permit();
  const { tenant } = ctx.database;
  const compared = await inAllWorkspaces(tenant, async (tx) => findPassword(tx, (await findUserByEmail(tx, email))?.id ?? ""));
  const session = await ctx.auth.signIn({ email, password, address: ctx.address, userAgent: ctx.userAgent });
  if (session === undefined) throw wrongPassword(ctx, email);
  const data = await inAllWorkspaces(tenant, async (tx) => {
    // A new password ends all sessions, and must not miss this one, which was made with the old one at the same moment.
    const stands = (await holdPassword(tx, session.userId)) === compared;
    const row = stands ? await findUser(tx, session.userId) : undefined;
    if (row === undefined) return deleteSessionOfToken(tx, session.token);
    await deleteExpired(tx, row.id);
    await recordAct(tx, { userId: row.id, address: ctx.address }, { action: "session.create", target: row.id });
    return toUser(row);
  });
  if (data === undefined) throw wrongPassword(ctx, email);
  return { data, cookies: session.cookies };
}

/** One answer for an unknown e-mail and a wrong password, so that it tells nothing about who has an account. */
export function wrongPassword(ctx: AccountContext, email: string): Refusal {
  ctx.refusedSignIns.note({ email, address: ctx.address });
  return ctx.guesses.wrong(
    "The e-mail or the password is wrong. If the password is lost, ask an owner of your workspace for a link to set a new one.",
  );
}
