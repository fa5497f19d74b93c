import { type User, updateMeBody } from "@beckon/contract";
import { changes } from "../base/audit/index.ts";
import { inAllWorkspaces } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { SignedIn } from "./account-context.ts";
import { recordAct } from "./record-act.ts";
import { lockUser, renameUser } from "./store.ts";
import { toUser } from "./user.ts";

/**
 * Changes the person's own name. The e-mail stays: it is unique among the members of each
 * workspace.
 */
export async function updateMe({
  ctx,
  input,
}: {
  ctx: SignedIn;
  input: { body: UnparsedBody };
}): Promise<User> {
  const { name } = parseBody(updateMeBody, input.body);
  return inAllWorkspaces(ctx.database.tenant, async (tx) => {
    const row = await lockUser(tx, ctx.userId);
    if (row === undefined) throw new Error("a session without a person stood");
    const changed = name === undefined ? row : await renameUser(tx, row.id, name);
    await recordAct(tx, ctx, {
      action: "user.update",
      target: row.id,
      data: changes(toUser(row), toUser(changed)),
    });
    return toUser(changed);
  });
}
