import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { placeOfToken } from "./place-of-token.ts";
import { findSealedToken, type Subject } from "./store.ts";

/**
 * The subject's current token in clear. The caller puts the reveal on record.
 * @throws ApiError `not_found` when there is none, `secret_unreadable` when it was sealed with a master key that is lost.
 */
export async function revealToken(
  tx: WorkspaceTransaction,
  ctx: Context,
  subject: Subject,
): Promise<string> {
  const current = await findSealedToken(tx, subject);
  if (current === undefined)
    throw new ApiError(
      "not_found",
      "There is no token: it was revoked. Rotate to issue a new one.",
    );
  return ctx.cipher.decrypt(
    current.sealed,
    placeOfToken({ workspaceId: ctx.workspaceId, subject, hash: current.hash }),
  );
}
