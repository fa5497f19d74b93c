import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { hashCredential, newCredential } from "../base/secrets/index.ts";
import { bindingOfToken } from "./binding-of-token.ts";
import {
  deleteTokens,
  type InsertedToken,
  insertTokens,
  retireToken,
  type Subject,
} from "./store.ts";

/** A token that is not inserted yet: its plain text, and its row. */
export interface NewToken {
  readonly text: string;
  readonly row: InsertedToken;
}

/** Generates a token for an agent or a trigger. It is valid once `insertTokens` is committed. */
export function newToken(ctx: Pick<Context, "workspaceId" | "cipher">, subject: Subject): NewToken {
  const text = newCredential(subject.triggerId === undefined ? "bka_" : "bkt_");
  const row = { workspaceId: ctx.workspaceId, subject, hash: hashCredential(text) };
  return { text, row: { ...row, sealed: ctx.cipher.encrypt(text, bindingOfToken(row)) } };
}

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
  const { text, row } = newToken(ctx, subject);
  await insertTokens(tx, [row]);
  return text;
}
