import { type AcceptedInvitation, acceptInvitationBody, newAccount } from "@beckon/contract";
import {
  type AccountContext,
  addAccount,
  findAccount,
  hashPassword,
  holdPassword,
  isSession,
  lockUser,
  wrongPassword,
} from "../accounts/index.ts";
import { record } from "../base/audit/index.ts";
import { permit } from "../base/context.ts";
import { inAllWorkspaces, type WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { parse, parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import { addMember } from "./add-member.ts";
import { findInvitation, type InvitationRow, takeInvitation } from "./invitation-store.ts";
import { findAbleIssuer } from "./issuer.ts";
import { permitRole, toMember } from "./member.ts";
import { lockMembers } from "./store.ts";

const wrongLink =
  "This invitation does not stand: it was accepted, was taken back, or has expired. Ask whoever sent it for another.";

/** A valid session. */
interface Session {
  readonly id: string;
  readonly userId: string;
}

interface GivenAccount {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly password?: string | undefined;
}

/**
 * Lets a person into the workspace of an invitation, with an account that the caller chooses: the
 * invitation's e-mail is a label. The link opens no account: that takes its password or a session.
 * It works if its issuer could issue it now.
 *
 * What takes long, a hash, is done before the transaction that takes the link: of two with the same
 * link one gets in.
 */
export async function acceptInvitation({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: UnparsedBody; signedIn: () => Promise<Session | undefined> };
}): Promise<AcceptedInvitation> {
  const { token, ...given } = parseBody(acceptInvitationBody, input.body);
  ctx.guesses.permit();
  if (!isCredential("bki_", token)) throw ctx.guesses.wrong(wrongLink);
  const hash = hashCredential(token);
  const { tenant } = ctx.database;
  const found = await inAllWorkspaces(tenant, (tx) => findIssuable(tx, hash));
  if (found === undefined) throw ctx.guesses.wrong(wrongLink);
  const account =
    given.password === undefined
      ? await ofSession(input.signedIn)
      : await ofPassword(ctx, found, { ...given, password: given.password });
  return inAllWorkspaces(tenant, async (tx) => {
    const invitation = await findIssuable(tx, hash);
    // It may have been accepted or taken back while `findIssuable` waited for its locks.
    if (invitation === undefined || !(await takeInvitation(tx, hash)))
      throw ctx.guesses.wrong(wrongLink);
    return join(tx, ctx, invitation, await account(tx));
  });
}

/**
 * The invitation of this link, if its issuer could issue it now; the workspace's members are locked
 * then.
 */
async function findIssuable(
  tx: WorkspaceTransaction,
  hash: Buffer,
): Promise<InvitationRow | undefined> {
  const row = await findInvitation(tx, hash);
  if (row === undefined) return undefined;
  await lockMembers(tx, row.workspace_id);
  const issue = { workspaceId: row.workspace_id, principal: row.created_by };
  const issuer = await findAbleIssuer(tx, issue, (ctx) => {
    permit(ctx, "members:write");
    permitRole(ctx, row.role);
  });
  return issuer && row;
}

/**
 * Returns the id of the account that joins. It checks the proof again in that transaction, or makes
 * the account.
 * @throws ApiError `unauthorized`
 */
type Account = (tx: WorkspaceTransaction) => Promise<string>;

/** The account that is signed in. */
async function ofSession(signedIn: () => Promise<Session | undefined>): Promise<Account> {
  const session = await signedIn();
  if (session === undefined) {
    throw new ApiError(
      "bad_request",
      "Say with which account you join: give name and password for a new one, or email and password of yours, or sign in first.",
    );
  }
  return async (tx) => {
    await lockUser(tx, session.userId);
    if (await isSession(tx, session)) return session.userId;
    throw new ApiError("unauthorized", "Your session has ended. Sign in again, and then accept.");
  };
}

/** The account with this e-mail and password; with a name a new one if there is none. */
async function ofPassword(
  ctx: AccountContext,
  invitation: InvitationRow,
  given: GivenAccount & { password: string },
): Promise<Account> {
  const { password, email = invitation.email } = given;
  const { account, isKnown } = await findAccount(ctx.database, { email, password });
  if (account !== undefined) {
    return async (tx) => {
      await lockUser(tx, account.user.id);
      if ((await holdPassword(tx, account.user.id)) === account.passwordHash)
        return account.user.id;
      throw wrongPassword(ctx, { email });
    };
  }
  if (given.name === undefined) throw wrongPassword(ctx, { email });
  const { name } = parse(newAccount, { name: given.name, password });
  // Or whoever invites to an address could guess its passwords without being slowed down.
  if (isKnown) wrongPassword(ctx, { email });
  const passwordHash = await hashPassword(password);
  return async (tx) => (await addAccount(tx, { name, email, passwordHash })).id;
}

async function join(
  tx: WorkspaceTransaction,
  ctx: AccountContext,
  invitation: InvitationRow,
  userId: string,
): Promise<AcceptedInvitation> {
  const { workspace_id: workspaceId, role, email } = invitation;
  const row = await addMember(tx, { userId, workspaceId, role });
  const by = { workspaceId, actor: { kind: "user", id: userId }, address: ctx.address } as const;
  await record(tx, by, {
    action: "invitation.accept",
    target: invitation.id,
    data: { user_id: userId, email: row.email, invited: email, role },
  });
  return { ...toMember(row), workspace_id: workspaceId };
}
