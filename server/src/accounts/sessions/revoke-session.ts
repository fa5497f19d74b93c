import { inAllWorkspaces } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import type { SignedIn } from "../account-context.ts";
import { recordAct } from "../record-act.ts";
import { deleteSessionRow } from "../session-store.ts";

/** Ends one of the person's own sessions: every process refuses its cookie from the answer on. */
export async function revokeSession({
  ctx,
  input,
}: {
  ctx: SignedIn;
  input: { sessionId: string };
}): Promise<void> {
  await inAllWorkspaces(ctx.database.tenant, async (tx) => {
    if (!(await deleteSessionRow(tx, ctx.userId, input.sessionId))) {
      throw new ApiError("not_found", "There is no session of yours with this id.");
    }
    await recordAct(tx, ctx, { action: "session.delete", target: input.sessionId });
  });
}
