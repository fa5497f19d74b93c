import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { bindingOfToken } from "./binding-of-token.ts";
import { findEncryptedToken, type Subject } from "./store.ts";

/**
 * Returns the current token of an agent or trigger in plain text. The caller must write the reveal
 * to the audit log.
 * @throws ApiError `not_found` if there is no token; `secret_unreadable` if the token was encrypted
 *   with a master key that is lost.
 */
export async function revealToken(
  tx: WorkspaceTransaction,
  ctx: Context,
  subject: Subject,
): Promise<string> {
  const current = await findEncryptedToken(tx, subject);
  if (current === undefined)
    throw new ApiError(
      "not_found",
      "There is no token because it was revoked. Rotate to issue a new one.",
    );
  return ctx.cipher.decrypt(
    current.sealed,
    bindingOfToken({ workspaceId: ctx.workspaceId, subject, hash: current.hash }),
  );
}
