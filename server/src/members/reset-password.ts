import { emptyBody } from "@beckon/contract";
import { issueReset } from "../accounts/index.ts";
import { record } from "../base/audit/index.ts";
import { type Actor, type Context, permit } from "../base/context.ts";
import { inAllWorkspaces, type WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { requireMember } from "./member.ts";
import { isBeyond } from "./store.ts";

/** A link to set a new password, in the one answer that shows it. */
export interface ResetLink {
  readonly token: string;
  readonly url: string;
  readonly expires_at: string;
}

/**
 * Makes a link by which a member sets a new password, within a day and once. Whoever has it gets the whole account, in every workspace of
 * that person: so it takes an owner of all of them. Those who own the installation's first workspace look after the accounts in it, wherever
 * else these are members; its bootstrap key is the way back for an owner who is alone.
 */
export async function resetMemberPassword({
  ctx,
  input,
}: {
  ctx: Context;
  input: { userId: string; body: UnparsedBody; publicUrl: string; firstWorkspaceId: string };
}): Promise<Once<ResetLink>> {
  permit(ctx, "workspaces:own");
  return inAllWorkspaces(ctx.database.tenant, async (tx) => {
    const row = await requireMember(tx, ctx, input.userId);
    if (await opensMore(tx, ctx, { userId: row.id, firstWorkspaceId: input.firstWorkspaceId })) {
      throw new ApiError(
        "forbidden",
        "This person is a member of workspaces that you do not own, and the link would open these too. Ask an owner of the workspace default.",
      );
    }
    return once(tx, ctx, async () => {
      parseBody(emptyBody, input.body, {});
      const { token, expires_at } = await issueReset(tx, {
        userId: row.id,
        issuer: ctx.actor,
        workspaceId: ctx.workspaceId,
      });
      await record(tx, ctx, {
        action: "password.reset_link",
        target: row.id,
        data: { email: row.email, expires_at },
      });
      return { token, url: `${input.publicUrl}/reset#token=${token}`, expires_at };
    });
  });
}

/**
 * Whether a link for the person would open workspaces that its issuer does not own and does not
 * look after.
 */
export async function opensMore(
  tx: WorkspaceTransaction,
  issuer: { readonly actor: Actor; readonly workspaceId: string },
  { userId, firstWorkspaceId }: { userId: string; firstWorkspaceId: string },
): Promise<boolean> {
  const { actor, workspaceId } = issuer;
  if (workspaceId === firstWorkspaceId) return false;
  return isBeyond(tx, { userId, workspaceId, owner: actor.kind === "user" ? actor.id : undefined });
}
