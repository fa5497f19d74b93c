import { signInBody, type User } from "@beckon/contract";
import { inAllWorkspaces } from "../base/database/index.ts";
import type { ApiError } from "../base/errors.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { AccountContext } from "./account-context.ts";
import { type Compared, findAccount } from "./find-account.ts";
import { lockPassword } from "./password-store.ts";
import { recordAccountAction } from "./record-account-action.ts";
import { deleteSessionOfToken } from "./session-store.ts";
import { findUser } from "./store.ts";
import { toUser } from "./user.ts";

/**
 * Signs in with e-mail and password. If several accounts have the same e-mail, `findAccount`
 * selects one. The audit entry is committed before the response, so that no client gets a session
 * without an audit entry.
 * @returns The account and the `Set-Cookie` values of its session.
 * @throws ApiError `unauthorized`, with the same message and duration for an unknown e-mail and a
 *   wrong password; `bad_request`, `too_many_requests`, `unavailable`
 */
export async function signIn({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: UnparsedBody };
}): Promise<{ data: User; cookies: readonly string[] }> {
  const { password, ...body } = parseBody(signInBody, input.body);
  const given = {
    email: body.email,
    workspaceId: body.workspace_id,
    preferredWorkspaceId: body.preferred_workspace_id,
  };
  ctx.failedAttempts.permit();
  const { tenant } = ctx.database;
  const { account } = await findAccount(ctx, { ...given, password });
  if (account === undefined) throw wrongPassword(ctx, given, ifShared);
  ctx.failedAttempts.permit();
  const userId = account.user.id;
  const session = await ctx.auth.startSession({
    userId,
    address: ctx.address,
    userAgent: ctx.userAgent,
  });
  const data = await inAllWorkspaces(tenant, async (tx) => {
    // A concurrent change of the password deletes the person's sessions, but may not see the new
    // session yet. In that case the stored hash has changed, and the code below deletes the new
    // session.
    const isCurrent = (await lockPassword(tx, userId)) === account.passwordHash;
    const row = isCurrent ? await findUser(tx, userId) : undefined;
    if (row === undefined) return deleteSessionOfToken(tx, session.token);
    await recordAccountAction(
      tx,
      { userId: row.id, address: ctx.address },
      { action: "session.create", target: row.id },
    );
    return toUser(row);
  });
  if (data === undefined) throw wrongPassword(ctx, given, ifShared);
  return { data, cookies: session.cookies };
}

const ifShared = "If several accounts use this e-mail, send workspace_id.";

/**
 * Counts a failed sign-in and returns the error to throw. The error is the same for an unknown
 * e-mail and for a wrong password, so that it does not reveal whether the e-mail has an account.
 * @param ifShared what to do if several accounts use the e-mail, as a sentence
 */
export function wrongPassword(ctx: AccountContext, given: Compared, ifShared: string): ApiError {
  ctx.failedSignIns.note({ ...given, address: ctx.address });
  return ctx.failedAttempts.count(
    `The e-mail or the password is wrong. ${ifShared} If the password is lost, ask an owner of your workspace for a reset link.`,
  );
}
