import { type Principal, principalOf } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { hashCredential, newCredential } from "../base/secrets/index.ts";
import { upsertReset } from "./password-store.ts";

const expiryHours = 24;

/**
 * Issues the token of a reset link. The person's previous reset link becomes invalid. The issuer is
 * stored, because the issuer's rights are checked again when the link is used.
 */
export async function issueReset(
  tx: WorkspaceTransaction,
  { userId, issuer, workspaceId }: { userId: string; issuer: Principal; workspaceId: string },
): Promise<{ token: string; expires_at: string }> {
  const token = newCredential("bkr_");
  const expiresAt = await upsertReset(tx, {
    user_id: userId,
    hash: hashCredential(token),
    created_by: principalOf(issuer),
    created_in: workspaceId,
    hours: expiryHours,
  });
  return { token, expires_at: expiresAt.toISOString() };
}
