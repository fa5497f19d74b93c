import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { Refusal } from "../base/errors.ts";
import { placeOf } from "./issue.ts";
import { findSealedToken, type Subject } from "./store.ts";

/** The subject's current token in clear. The caller puts the reveal on record. @throws Refusal `not_found` when there is none. */
export async function revealToken(tx: WorkspaceTransaction, ctx: Context, subject: Subject): Promise<string> {
  const sealed = await findSealedToken(tx, subject);
  if (sealed === undefined) throw new Refusal("not_found", "There is no token: it was revoked. Rotate to issue a new one.");
  return ctx.sealer.open(sealed, placeOf(ctx, subject));
}
