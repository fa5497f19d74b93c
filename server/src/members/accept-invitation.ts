import { type AcceptedInvitation, acceptInvitationBody, newAccount } from "@beckon/contract";
import { type AccountContext, addAccount, type FoundAccount, findAccount, hashPassword, wrongPassword } from "../accounts/index.ts";
import { record } from "../base/audit/index.ts";
import { inAllWorkspaces, type WorkspaceTransaction } from "../base/database/index.ts";
import { Refusal } from "../base/errors.ts";
import { parse } from "../base/parse.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import { findInvitation, type InvitationRow, takeInvitation } from "./invitation-store.ts";
import { toMember } from "./member.ts";
import { findMemberRow, insertMember } from "./store.ts";

const wrongLink = "This invitation does not stand: it was accepted, was taken back, or has expired. Ask whoever sent it for another.";

/**
 * Lets the person that an invitation was made out to into its workspace. The link alone makes a new account; it opens no account there is, whose
 * holder has to be signed in, or to give its password. The e-mail is that of the invitation, whoever has the link.
 *
 * What takes long, a hash, is done before the transaction that takes the link: of two with the same link one gets in.
 * @param userId Who is signed in, if anybody.
 */
export async function acceptInvitation({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: unknown; userId: string | undefined };
}): Promise<AcceptedInvitation> {
  const body = parse(acceptInvitationBody, input.body);
  ctx.guesses.permit();
  if (!isCredential("bki_", body.token)) throw ctx.guesses.wrong(wrongLink);
  const hash = hashCredential(body.token);
  const { tenant } = ctx.database;
  const { invitation, account } = await inAllWorkspaces(tenant, async (tx) => {
    const row = await findInvitation(tx, hash);
    return { invitation: row, account: row && (await findAccount(tx, row.email)) };
  });
  if (invitation === undefined) throw ctx.guesses.wrong(wrongLink);
  const person = account === undefined ? await newcomer(body) : undefined;
  if (account !== undefined) await requireHolder(ctx, account, { password: body.password, userId: input.userId });
  return inAllWorkspaces(tenant, async (tx) => {
    const taken = await takeInvitation(tx, hash);
    if (taken === undefined) throw ctx.guesses.wrong(wrongLink);
    const user = person === undefined ? account?.user : await addAccount(tx, { ...person, email: taken.email });
    if (user === undefined)
      throw new Refusal("conflict", "This e-mail has had an account since a moment ago. Accept again, with its password.");
    return join(tx, ctx, taken, user.id);
  });
}

async function newcomer(body: { name?: string | undefined; password?: string | undefined }) {
  const { name, password } = parse(newAccount, { name: body.name, password: body.password });
  return { name, passwordHash: await hashPassword(password) };
}

/** @throws Refusal `unauthorized` unless whoever accepts is the account's holder. */
async function requireHolder(
  ctx: AccountContext,
  { user, isPassword }: FoundAccount,
  given: { password: string | undefined; userId: string | undefined },
): Promise<void> {
  if (given.userId === user.id) return;
  if (given.password === undefined) {
    throw new Refusal("unauthorized", `${user.email} has an account here. Sign in with it first, or give its password.`);
  }
  if (!(await isPassword(given.password))) throw wrongPassword(ctx, user.email);
}

async function join(tx: WorkspaceTransaction, ctx: AccountContext, invitation: InvitationRow, userId: string): Promise<AcceptedInvitation> {
  const { workspace_id: workspaceId, role } = invitation;
  if (!(await insertMember(tx, { user_id: userId, workspace_id: workspaceId, role }))) {
    throw new Refusal("conflict", "You are a member of this workspace already. Ask one of its admins to change your role.");
  }
  const row = await findMemberRow(tx, workspaceId, userId);
  if (row === undefined) throw new Error("a member that was just added is not there");
  const by = { workspaceId, actor: { kind: "user", id: userId }, address: ctx.address } as const;
  await record(tx, by, { action: "invitation.accept", target: invitation.id, data: { user_id: userId, email: row.email, role } });
  return { ...toMember(row), workspace_id: workspaceId };
}
