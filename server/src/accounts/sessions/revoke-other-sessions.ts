import { inAllWorkspaces } from "../../base/database/index.ts";
import type { SignedIn } from "../account-context.ts";
import { recordAct } from "../record-act.ts";
import { deleteSessionsOf } from "../session-store.ts";

/** Ends all of the person's sessions but the one that asks. */
export async function revokeOtherSessions({ ctx }: { ctx: SignedIn }): Promise<void> {
  await inAllWorkspaces(ctx.database.tenant, async (tx) => {
    const ended = await deleteSessionsOf(tx, ctx.userId, ctx.sessionId);
    if (ended > 0)
      await recordAct(tx, ctx, {
        action: "session.delete_others",
        target: ctx.userId,
        data: { ended },
      });
  });
}
