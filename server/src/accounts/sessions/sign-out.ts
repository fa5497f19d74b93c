import { inAllWorkspaces } from "../../base/database/index.ts";
import type { SignedIn } from "../account-context.ts";
import { recordAct } from "../record-act.ts";
import { deleteSessionRow } from "../session-store.ts";

/** Ends the session that asks: every process refuses its cookie from the answer on. @returns the cookies that make the browser forget it. */
export async function signOut({ ctx }: { ctx: SignedIn }): Promise<{ cookies: readonly string[] }> {
  await inAllWorkspaces(ctx.database.tenant, async (tx) => {
    if (!(await deleteSessionRow(tx, ctx.userId, ctx.sessionId))) return;
    await recordAct(tx, ctx, { action: "session.delete", target: ctx.sessionId });
  });
  return { cookies: [ctx.auth.farewell] };
}
