import type { WorkspaceTransaction } from "../base/database/index.ts";
import { hashCredential, newCredential } from "../base/secrets/index.ts";
import { upsertReset } from "./password-store.ts";

const hours = 24;

/** What a link to set a new password carries; the one before stops. */
export async function issueReset(tx: WorkspaceTransaction, userId: string): Promise<{ token: string; expires_at: string }> {
  const token = newCredential("bkr_");
  const expiresAt = await upsertReset(tx, { userId, hash: hashCredential(token), hours });
  return { token, expires_at: expiresAt.toISOString() };
}
