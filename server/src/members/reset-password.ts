import { emptyBody } from "@beckon/contract";
import { issueReset } from "../accounts/index.ts";
import { record } from "../base/audit/index.ts";
import { type Actor, type Context, permit } from "../base/context.ts";
import { inAllWorkspaces, type WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { requireUnchangedRights } from "../credentials/index.ts";
import { permitRole, requireMember } from "./member.ts";
import { findMemberRow, isMemberOfUnownedWorkspace } from "./store.ts";

/** A link to set a new password. Only the response that creates the link contains its token. */
export interface ResetLink {
  readonly token: string;
  readonly url: string;
  readonly expires_at: string;
}

/**
 * Issues a link with which a member can set a new password once, within 24 hours. The issuer must
 * own all workspaces of the member, because the link gives access to all of them. Owners and keys
 * of the workspace `default` are an exception: they can issue the link for every member of
 * `default`. The only owner of an installation can therefore recover their account with the
 * bootstrap key, which the operator sets (BECKON_BOOTSTRAP_KEY). A key must also have all scopes of
 * the member's role, because the person who uses the link gets these scopes.
 *
 * Nobody can issue the link for themselves. Otherwise a session would be enough to set a new
 * password, although a change of the password requires the current one. With a session, an owner
 * can still add a key or another owner that issues the link, but the audit log then has an entry
 * for the addition and one for the link.
 * @param input.firstWorkspaceId Id of the workspace `default`.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; the errors of `requireUnchangedRights`
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
    await requireUnchangedRights(tx, ctx);
    const row = await requireMember(tx, ctx, input.userId);
    permitRole(ctx, row.role);
    if (isIssuer(ctx.actor, row.id)) {
      throw new ApiError(
        "forbidden",
        "You cannot create a reset link for yourself. Change your password with POST /api/public/password; if it is lost, ask another owner, or create the link with a key, for example the bootstrap key.",
      );
    }
    if (
      await opensOtherWorkspaces(tx, ctx, {
        userId: row.id,
        firstWorkspaceId: input.firstWorkspaceId,
      })
    ) {
      // Owners of `default` get 404 for a person who is not a member of it.
      const inFirst = await findMemberRow(tx, input.firstWorkspaceId, row.id);
      throw new ApiError(
        "forbidden",
        `This person is a member of workspaces that you do not own, and the link would give access to them. ${
          inFirst === undefined
            ? "Ask the owners of these workspaces to remove the person, create the link, and let them invite the person again after its use."
            : "Ask an owner of the workspace default to create the link."
        }`,
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

/** Returns whether the issuer of a reset link is the person whose password the link sets. */
export function isIssuer(actor: Actor, userId: string): boolean {
  return actor.kind === "user" && actor.id === userId;
}

/**
 * Returns whether a reset link for the person is forbidden, because it would give access to
 * workspaces that its issuer does not own. Always false for owners and keys of the workspace
 * `default`, which can issue the link for every member of `default`.
 */
export async function opensOtherWorkspaces(
  tx: WorkspaceTransaction,
  issuer: { readonly actor: Actor; readonly workspaceId: string },
  { userId, firstWorkspaceId }: { userId: string; firstWorkspaceId: string },
): Promise<boolean> {
  const { actor, workspaceId } = issuer;
  if (workspaceId === firstWorkspaceId) return false;
  return isMemberOfUnownedWorkspace(tx, {
    userId,
    workspaceId,
    owner: actor.kind === "user" ? actor.id : undefined,
  });
}
