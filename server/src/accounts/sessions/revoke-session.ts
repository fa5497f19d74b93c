import { inAllWorkspaces } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import type { SignedIn } from "../account-context.ts";
import { recordAccountAction } from "../record-account-action.ts";
import { deleteSessionRow } from "../session-store.ts";

/**
 * Deletes one of the person's sessions. After the response, all processes reject its cookie.
 * @throws ApiError `not_found`
 */
export async function revokeSession({
  ctx,
  input,
}: {
  ctx: SignedIn;
  input: { sessionId: string };
}): Promise<void> {
  await inAllWorkspaces(ctx.database.tenant, async (tx) => {
    if (!(await deleteSessionRow(tx, ctx.userId, input.sessionId))) {
      throw new ApiError("not_found", "You have no session with this id.");
    }
    await recordAccountAction(tx, ctx, { action: "session.delete", target: input.sessionId });
  });
}
