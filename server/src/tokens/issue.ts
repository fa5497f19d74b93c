import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { hashCredential, newCredential } from "../base/secrets/index.ts";
import { bindingOfToken } from "./binding-of-token.ts";
import { deleteTokens, insertToken, retireToken, type Subject } from "./store.ts";

/**
 * Issues a token for an agent or a trigger, and returns it in plain text. The previous token stays
 * valid for `graceSeconds` more; with 0 it is revoked at once. The caller must have inserted or
 * locked the row of the agent or trigger, so that concurrent rotations run one after the other.
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
  await insertToken(tx, { ...row, sealed: ctx.cipher.encrypt(token, bindingOfToken(row)) });
  return token;
}
