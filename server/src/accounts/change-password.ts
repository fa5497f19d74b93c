import { changePasswordBody } from "@beckon/contract";
import { inAllWorkspaces } from "../base/database/index.ts";
import type { ApiError } from "../base/errors.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { SignedIn } from "./account-context.ts";
import { hashPassword, verifyPassword } from "./hash-password.ts";
import { deleteResets, findPassword, updatePassword } from "./password-store.ts";
import { recordAccountAction } from "./record-account-action.ts";
import { deleteSessionOfToken, deleteSessionsOf } from "./session-store.ts";

/**
 * Changes the password, starts a new session, and deletes all others and an open reset link. The
 * session of the request is deleted too, because its cookie may have been copied. The current
 * password is required, so that access to a signed-in browser is not enough.
 * @returns The `Set-Cookie` values of the new session.
 * @throws ApiError `bad_request`; `unauthorized` if the current password is wrong;
 *   `too_many_requests`, `unavailable`
 */
export async function changePassword({
  ctx,
  input,
}: {
  ctx: SignedIn;
  input: { body: UnparsedBody };
}): Promise<{ cookies: readonly string[] }> {
  const body = parseBody(changePasswordBody, input.body);
  ctx.failedAttempts.permit();
  const { tenant } = ctx.database;
  const currentHash = await inAllWorkspaces(tenant, (tx) => findPassword(tx, ctx.userId));
  if (
    currentHash === undefined ||
    !(await verifyPassword({ hash: currentHash, password: body.current_password }, ctx.address))
  )
    throw wrongPassword(ctx);
  ctx.failedAttempts.permit();
  const hash = await hashPassword(body.new_password, ctx.address);
  const session = await ctx.auth.startSession({
    userId: ctx.userId,
    address: ctx.address,
    userAgent: ctx.userAgent,
  });
  const isChanged = await inAllWorkspaces(tenant, async (tx) => {
    // A concurrent request may have changed the password since it was compared. In that case,
    // nothing is updated, and `current_password` counts as wrong.
    if (!(await updatePassword(tx, ctx.userId, { hash, replacing: currentHash }))) {
      await deleteSessionOfToken(tx, session.token);
      return false;
    }
    await deleteSessionsOf(tx, ctx.userId, { token: session.token });
    await deleteResets(tx, ctx.userId);
    await recordAccountAction(tx, ctx, { action: "password.change", target: ctx.userId });
    return true;
  });
  if (!isChanged) throw wrongPassword(ctx);
  return { cookies: session.cookies };
}

function wrongPassword(ctx: SignedIn): ApiError {
  ctx.failedSignIns.noteSignedIn(ctx);
  return ctx.failedAttempts.count(
    "current_password is wrong. If it is lost, ask an owner of your workspace for a reset link.",
  );
}
