import { setupBody, type User } from "@beckon/contract";
import { type AccountContext, addAccount, hashPassword } from "../accounts/index.ts";
import { record } from "../base/audit/index.ts";
import { type Database, inAllWorkspaces } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, isCredential, newCredential } from "../base/secrets/index.ts";
import { addMember, lockMembers } from "../members/index.ts";
import { defaultWorkspaceId } from "./ensure-default.ts";
import {
  addSetupHash,
  deleteSetupHashes,
  hasOwner,
  isSetupHash,
  maxSetupTokens,
  takeSetupHashes,
} from "./setup-store.ts";

export const invalidSetupMessage = `This setup link is no longer valid: a link was used, all links were revoked, or ${maxSetupTokens} later starts printed newer ones. If there is no owner yet, restart Beckon to print a new one.`;

/**
 * Issues the token of the setup link, which lets a person become the first owner. The tokens that
 * were issued before stay valid, up to `maxSetupTokens`: another machine may have printed one of
 * them a moment ago.
 * @returns The token, or undefined if there is an owner.
 */
export function issueSetupToken(database: Database): Promise<string | undefined> {
  return inAllWorkspaces(database.tenant, async (tx) => {
    if (await hasOwner(tx, defaultWorkspaceId)) {
      await deleteSetupHashes(tx);
      return undefined;
    }
    const token = newCredential("bks_");
    await addSetupHash(tx, hashCredential(token));
    return token;
  });
}

/** Invalidates the setup links that earlier startups of Beckon issued. */
export function revokeSetupTokens(database: Database): Promise<void> {
  return inAllWorkspaces(database.tenant, deleteSetupHashes);
}

/**
 * Adds the first account, which becomes the owner of the workspace `default`. Any of the valid
 * setup tokens can be used, and all are then invalid. Of concurrent requests with them, one
 * succeeds and the others fail as with a wrong token.
 * @throws ApiError `bad_request`; `unauthorized` for an invalid token; `too_many_requests`,
 *   `unavailable`
 */
export async function setUp({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: UnparsedBody };
}): Promise<User> {
  const { token, name, email, password } = parseBody(setupBody, input.body);
  ctx.failedAttempts.permit();
  const link = hashCredential(token);
  const { tenant } = ctx.database;
  const isValid =
    isCredential("bks_", token) && (await inAllWorkspaces(tenant, (tx) => isSetupHash(tx, link)));
  if (!isValid) throw ctx.failedAttempts.count(invalidSetupMessage);
  const passwordHash = await hashPassword(password, ctx.address);
  return inAllWorkspaces(tenant, async (tx) => {
    await lockMembers(tx, defaultWorkspaceId);
    // The link is also invalid if there is an owner by now: after the link was printed, somebody
    // with a key may have invited a person as owner.
    if (!(await takeSetupHashes(tx, link)) || (await hasOwner(tx, defaultWorkspaceId)))
      throw ctx.failedAttempts.count(invalidSetupMessage);
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
