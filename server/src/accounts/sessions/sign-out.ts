import { inAllWorkspaces } from "../../base/database/index.ts";
import type { SignedIn } from "../account-context.ts";
import { recordAccountAction } from "../record-account-action.ts";
import { deleteSessionRow } from "../session-store.ts";

/**
 * Deletes the session of the request. After the response, all processes reject its cookie.
 * @returns The `Set-Cookie` value that deletes the cookie.
 */
export async function signOut({ ctx }: { ctx: SignedIn }): Promise<{ cookies: readonly string[] }> {
  await inAllWorkspaces(ctx.database.tenant, async (tx) => {
    if (!(await deleteSessionRow(tx, ctx.userId, ctx.sessionId))) return;
    await recordAccountAction(tx, ctx, { action: "session.delete", target: ctx.sessionId });
  });
  return { cookies: [ctx.auth.clearCookie] };
}
