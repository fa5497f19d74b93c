import { inAllWorkspaces } from "../../base/database/index.ts";
import type { SignedIn } from "../account-context.ts";
import { recordAccountAction } from "../record-account-action.ts";
import { deleteSessionsOf } from "../session-store.ts";

/** Deletes all sessions of the person, except the one with which the request was made. */
export async function revokeOtherSessions({ ctx }: { ctx: SignedIn }): Promise<void> {
  await inAllWorkspaces(ctx.database.tenant, async (tx) => {
    const ended = await deleteSessionsOf(tx, ctx.userId, { id: ctx.sessionId });
    if (ended > 0)
      await recordAccountAction(tx, ctx, {
        action: "session.delete_others",
        target: ctx.userId,
        data: { ended },
      });
  });
}
