import { type User, updateMeBody } from "@beckon/contract";
import { changes } from "../base/audit/index.ts";
import { inAllWorkspaces } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { SignedIn } from "./account-context.ts";
import { recordAccountAction } from "./record-account-action.ts";
import { lockUser, renameUser } from "./store.ts";
import { toUser } from "./user.ts";

/**
 * Changes the signed-in person's name. The e-mail cannot be changed, because the new e-mail
 * could be that of another member in one of the person's workspaces, where it must be unique.
 * @throws ApiError `bad_request`
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
    if (row === undefined) throw new Error("a valid session has no account");
    const changed = name === undefined ? row : await renameUser(tx, row.id, name);
    await recordAccountAction(tx, ctx, {
      action: "user.update",
      target: row.id,
      data: changes(toUser(row), toUser(changed)),
    });
    return toUser(changed);
  });
}
