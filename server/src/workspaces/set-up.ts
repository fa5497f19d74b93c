import { setupBody, type User } from "@beckon/contract";
import { type AccountContext, addAccount, hashPassword } from "../accounts/index.ts";
import { record } from "../base/audit/index.ts";
import { type Database, inAllWorkspaces } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, isCredential, newCredential } from "../base/secrets/index.ts";
import { addMember, lockMembers } from "../members/index.ts";
import { defaultWorkspaceId } from "./ensure-default.ts";
import { hasOwner, isSetupHash, replaceSetupHash, takeSetupHash } from "./setup-store.ts";

const wrongLink =
  "This link does not stand: it was used, or a later start has made another. As long as there is no owner, each start prints a new one.";

/** What makes the first owner, anew at each call, so that one that was lost or seen is worth nothing; undefined once there is one. */
export function issueSetupToken(database: Database): Promise<string | undefined> {
  return inAllWorkspaces(database.tenant, async (tx) => {
    if (await hasOwner(tx, defaultWorkspaceId)) return undefined;
    const token = newCredential("bks_");
    await replaceSetupHash(tx, hashCredential(token));
    return token;
  });
}

/** Revokes the link for the first owner that an earlier start issued. */
export function revokeSetupToken(database: Database): Promise<void> {
  return inAllWorkspaces(database.tenant, (tx) => replaceSetupHash(tx, null));
}

/**
 * Makes the installation's first person, the owner of its first workspace. The token works once: of two who have it one becomes
 * the owner, and the other is told as anybody with a wrong one.
 */
export async function setUp({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: UnparsedBody };
}): Promise<User> {
  const { token, name, email, password } = parseBody(setupBody, input.body);
  ctx.guesses.permit();
  const link = hashCredential(token);
  const { tenant } = ctx.database;
  const stands =
    isCredential("bks_", token) && (await inAllWorkspaces(tenant, (tx) => isSetupHash(tx, link)));
  if (!stands) throw ctx.guesses.wrong(wrongLink);
  const passwordHash = await hashPassword(password);
  return inAllWorkspaces(tenant, async (tx) => {
    await lockMembers(tx, defaultWorkspaceId);
    // A key may have invited an owner meanwhile.
    if (!(await takeSetupHash(tx, link)) || (await hasOwner(tx, defaultWorkspaceId)))
      throw ctx.guesses.wrong(wrongLink);
    const user = await addAccount(tx, { name, email, passwordHash });
    await addMember(tx, { userId: user.id, workspaceId: defaultWorkspaceId, role: "owner" });
    const by = {
      workspaceId: defaultWorkspaceId,
      actor: { kind: "user", id: user.id },
      address: ctx.address,
    } as const;
    await record(tx, by, { action: "owner.create", target: user.id, data: { email } });
    return user;
  });
}
