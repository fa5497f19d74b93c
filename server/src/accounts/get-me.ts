import type { Me } from "@beckon/contract";
import { inAllWorkspaces } from "../base/database/index.ts";
import type { SignedIn } from "./account-context.ts";
import { findUser, membershipsOf } from "./store.ts";
import { toUser } from "./user.ts";

/** Who is signed in, and what they are where. */
export async function getMe({ ctx }: { ctx: SignedIn }): Promise<Me> {
  return inAllWorkspaces(ctx.database.tenant, async (tx) => {
    const row = await findUser(tx, ctx.userId);
    if (row === undefined) throw new Error("a session without a person stood");
    return { ...toUser(row), workspaces: await membershipsOf(tx, ctx.userId) };
  });
}
