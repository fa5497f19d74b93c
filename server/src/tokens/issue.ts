import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { hashCredential, newCredential } from "../base/secrets/index.ts";
import { placeOfToken } from "./place-of-token.ts";
import { deleteTokens, insertToken, retireToken, type Subject } from "./store.ts";

/**
 * Makes the subject's token. An earlier one lives on for `graceSeconds`, or ends at once with 0. The caller holds the lock of
 * the subject's row, so that of many rotations at once each ends the one before it.
 */
export async function issueToken(
  tx: WorkspaceTransaction,
  ctx: Context,
  subject: Subject,
  options: { graceSeconds: number },
): Promise<string> {
  if (options.graceSeconds === 0) await deleteTokens(tx, subject);
  else await retireToken(tx, subject, options.graceSeconds);
  const token = newCredential(subject.triggerId === undefined ? "bka_" : "bkt_");
  const row = { workspaceId: ctx.workspaceId, subject, hash: hashCredential(token) };
  await insertToken(tx, { ...row, sealed: ctx.cipher.encrypt(token, placeOfToken(row)) });
  return token;
}
