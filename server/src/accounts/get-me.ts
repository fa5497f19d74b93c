import { type Me, roleScopes } from "@beckon/contract";
import { inAllWorkspaces } from "../base/database/index.ts";
import type { SignedIn } from "./account-context.ts";
import { findUser, membershipsOf } from "./store.ts";
import { toUser } from "./user.ts";

/** Returns the signed-in person's account, and memberships with their scopes. */
export async function getMe({ ctx }: { ctx: SignedIn }): Promise<Me> {
  return inAllWorkspaces(ctx.database.tenant, async (tx) => {
    const row = await findUser(tx, ctx.userId);
    if (row === undefined) throw new Error("a valid session has no account");
    const memberships = await membershipsOf(tx, ctx.userId);
    return {
      ...toUser(row),
      workspaces: memberships.map((each) => ({ ...each, scopes: [...roleScopes[each.role]] })),
    };
  });
}
