import { changePasswordBody } from "@beckon/contract";
import { inAllWorkspaces } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { SignedIn } from "./account-context.ts";
import { hashPassword, verifyPassword } from "./hash-password.ts";
import { deleteResets, findPassword, updatePassword } from "./password-store.ts";
import { recordAct } from "./record-act.ts";
import { deleteSessionsOf } from "./session-store.ts";

const wrongMessage =
  "current_password is wrong. If it is lost, ask an owner of your workspace for a link to set a new one.";

/**
 * Sets a new password in place of the current one, which whoever merely found a browser open does not know. All other sessions end, and
 * so does an open link to set one.
 */
export async function changePassword({
  ctx,
  input,
}: {
  ctx: SignedIn;
  input: { body: UnparsedBody };
}): Promise<void> {
  const body = parseBody(changePasswordBody, input.body);
  ctx.guesses.permit();
  const { tenant } = ctx.database;
  const former = await inAllWorkspaces(tenant, (tx) => findPassword(tx, ctx.userId));
  if (
    former === undefined ||
    !(await verifyPassword({ hash: former, password: body.current_password }))
  )
    throw ctx.guesses.wrong(wrongMessage);
  const hash = await hashPassword(body.new_password);
  await inAllWorkspaces(tenant, async (tx) => {
    // Another change of the same moment may have come first: then the password that was compared stands no more.
    if (!(await updatePassword(tx, ctx.userId, { hash, former })))
      throw ctx.guesses.wrong(wrongMessage);
    await deleteSessionsOf(tx, ctx.userId, ctx.sessionId);
    await deleteResets(tx, ctx.userId);
    await recordAct(tx, ctx, { action: "password.change", target: ctx.userId });
  });
}
