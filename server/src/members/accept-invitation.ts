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
import { inAllWorkspaces, type WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { parse, parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import { addMember } from "./add-member.ts";
import { type InvitationRow, takeInvitation } from "./invitation-store.ts";
import { toMember } from "./member.ts";
import { findValidInvitation, invalidInvitationMessage } from "./valid-invitation.ts";

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
 * Adds a person to the workspace of an invitation. The caller chooses the account: a new account,
 * the account of their session, or an account whose password they send. The account's e-mail can
 * differ from that of the invitation. The invitation is valid only while its issuer still has the
 * right to issue it.
 *
 * Passwords are hashed before the transaction that deletes the invitation, because hashing is slow.
 * Of concurrent requests with the same link, only one succeeds.
 * @param input.signedIn Returns the caller's session. Called only if the body has no password.
 * @throws ApiError `bad_request`; `unauthorized` for an invalid link, password or session;
 *   `conflict` in the same cases as `addMember`; `too_many_requests`, `unavailable`
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
  if (!isCredential("bki_", token)) throw ctx.failedAttempts.count(invalidInvitationMessage);
  const hash = hashCredential(token);
  const { tenant } = ctx.database;
  const found = await inAllWorkspaces(tenant, (tx) => findValidInvitation(tx, hash));
  if (found === undefined) throw ctx.failedAttempts.count(invalidInvitationMessage);
  const account =
    given.password === undefined
      ? await accountOfSession(input.signedIn)
      : await accountOfPassword(ctx, found, { ...given, password: given.password });
  return inAllWorkspaces(tenant, async (tx) => {
    const invitation = await findValidInvitation(tx, hash);
    // Another request may have deleted the invitation while the line above waited for locks.
    if (invitation === undefined || !(await takeInvitation(tx, hash)))
      throw ctx.failedAttempts.count(invalidInvitationMessage);
    return join(tx, ctx, invitation, await account(tx));
  });
}

/**
 * Returns the id of the account that joins. It is called in the transaction that adds the member,
 * where it either checks again that the password or session is valid, or adds the new account.
 * @throws ApiError `unauthorized` if the password or session is no longer valid.
 */
type AccountResolver = (tx: WorkspaceTransaction) => Promise<string>;

/** Uses the account of the caller's session. @throws ApiError `bad_request` if there is none. */
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

const ifShared =
  "If several accounts use this e-mail, sign in first, then accept the invitation without a password.";

/**
 * Finds the account with this e-mail and password. If no account matches and a name is given, the
 * returned function adds an account.
 * @throws ApiError `unauthorized` if no account matches and no name is given.
 */
async function accountOfPassword(
  ctx: AccountContext,
  invitation: InvitationRow,
  given: AccountFields & { password: string },
): Promise<AccountResolver> {
  const { password, email = invitation.email } = given;
  const { account, isKnown } = await findAccount(ctx, { email, password });
  // Other requests can reach the limit of failed attempts while passwords are compared. This call
  // is not inside the `if` below, because then only a correct password would be rejected at the
  // limit, which reveals it: a wrong password with a name is not rejected, but adds an account.
  ctx.failedAttempts.permit();
  if (account !== undefined) {
    return async (tx) => {
      await lockUser(tx, account.user.id);
      if ((await lockPassword(tx, account.user.id)) === account.passwordHash)
        return account.user.id;
      throw wrongPassword(ctx, { email }, ifShared);
    };
  }
  if (given.name === undefined) throw wrongPassword(ctx, { email }, ifShared);
  const { name } = parse(newAccount, { name: given.name, password });
  // Several accounts can have the same e-mail, so a new one is added even if the e-mail is known.
  // Without the count, a person with valid invitations could send a name with each attempt, and so
  // guess a known account's password. An unknown e-mail counts too, or the count would reveal it.
  ctx.failedAttempts.countSucceeding();
  // No IP address is recorded, because the known account is another person's.
  if (isKnown) ctx.failedSignIns.note({ email, address: null });
  const passwordHash = await hashPassword(password, ctx.address);
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
