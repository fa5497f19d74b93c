import { type AcceptedInvitation, acceptInvitationBody, newAccount } from "@beckon/contract";
import {
  type AccountContext,
  addAccount,
  findAccount,
  hashPassword,
  isSession,
  lockPassword,
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

const invalidLinkMessage =
  "This invitation is no longer valid: it was accepted, was withdrawn or has expired. Ask its sender for a new one.";

/** A valid session. */
interface Session {
  readonly id: string;
  readonly userId: string;
}

interface AccountFields {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly password?: string | undefined;
}

/**
 * Adds a person to the workspace of an invitation, with an account that the caller chooses: a new
 * one, that of their session, or one whose password they give. The invitation's e-mail need not
 * match. The invitation must be one that its issuer could issue now.
 *
 * Passwords are hashed before the transaction that deletes the invitation, because hashing is slow.
 * Of concurrent requests with the same link one succeeds.
 * @param input.signedIn Returns the caller's session. Called only if the body has no password.
 * @throws ApiError `bad_request`; `unauthorized` for an invalid link, password or session;
 *   `conflict` as `addMember`; `too_many_requests`
 */
export async function acceptInvitation({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: UnparsedBody; signedIn: () => Promise<Session | undefined> };
}): Promise<AcceptedInvitation> {
  const { token, ...given } = parseBody(acceptInvitationBody, input.body);
  ctx.failedAttempts.permit();
  if (!isCredential("bki_", token)) throw ctx.failedAttempts.count(invalidLinkMessage);
  const hash = hashCredential(token);
  const { tenant } = ctx.database;
  const found = await inAllWorkspaces(tenant, (tx) => findValidInvitation(tx, hash));
  if (found === undefined) throw ctx.failedAttempts.count(invalidLinkMessage);
  const account =
    given.password === undefined
      ? await accountOfSession(input.signedIn)
      : await accountOfPassword(ctx, found, { ...given, password: given.password });
  return inAllWorkspaces(tenant, async (tx) => {
    const invitation = await findValidInvitation(tx, hash);
    // It may have been accepted or withdrawn while `findValidInvitation` waited for its locks.
    if (invitation === undefined || !(await takeInvitation(tx, hash)))
      throw ctx.failedAttempts.count(invalidLinkMessage);
    return join(tx, ctx, invitation, await account(tx));
  });
}

/**
 * Returns the invitation if it has not expired and its issuer could issue it now. Locks the
 * workspace's members.
 */
async function findValidInvitation(
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
 * Returns the id of the account that joins: checks its password or session again in the transaction
 * that adds the member, or adds the account.
 * @throws ApiError `unauthorized`
 */
type AccountResolver = (tx: WorkspaceTransaction) => Promise<string>;

/** @throws ApiError `bad_request` if there is no session. */
async function accountOfSession(
  signedIn: () => Promise<Session | undefined>,
): Promise<AccountResolver> {
  const session = await signedIn();
  if (session === undefined) {
    throw new ApiError(
      "bad_request",
      "The account that joins is missing. Send name and password for a new account, or email and password of yours, or sign in first.",
    );
  }
  return async (tx) => {
    await lockUser(tx, session.userId);
    if (await isSession(tx, session)) return session.userId;
    throw new ApiError(
      "unauthorized",
      "Your session is no longer valid. Sign in again, then accept the invitation.",
    );
  };
}

/**
 * Finds the account with this e-mail and password. If there is none and a name is given, the
 * account is added later.
 * @throws ApiError `unauthorized` if there is none and no name is given.
 */
async function accountOfPassword(
  ctx: AccountContext,
  invitation: InvitationRow,
  given: AccountFields & { password: string },
): Promise<AccountResolver> {
  const { password, email = invitation.email } = given;
  const { account, isKnown } = await findAccount(ctx.database, { email, password });
  if (account !== undefined) {
    return async (tx) => {
      await lockUser(tx, account.user.id);
      if ((await lockPassword(tx, account.user.id)) === account.passwordHash)
        return account.user.id;
      throw wrongPassword(ctx, { email });
    };
  }
  if (given.name === undefined) throw wrongPassword(ctx, { email });
  const { name } = parse(newAccount, { name: given.name, password });
  // Counted as a wrong password. Otherwise inviting an e-mail and sending a name would allow
  // unlimited guesses of that account's password.
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
