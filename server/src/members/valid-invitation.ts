import type { Role } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { findInvitation, type InvitationRow } from "./invitation-store.ts";
import { findAbleIssuer } from "./issuer.ts";
import { permitRole } from "./member.ts";
import { lockMembers } from "./store.ts";

export const invalidInvitationMessage =
  "This invitation is no longer valid: it was accepted, was withdrawn or has expired, or its issuer can no longer invite. Ask an owner or admin of the workspace for a new one.";

/**
 * Returns the invitation if it has not expired and its issuer still has the right to issue it,
 * otherwise undefined. Locks the members of the workspace as `lockMembers` does.
 */
export async function findValidInvitation(
  tx: WorkspaceTransaction,
  hash: Buffer,
): Promise<InvitationRow | undefined> {
  const row = await findInvitation(tx, hash);
  if (row === undefined) return undefined;
  await lockMembers(tx, row.workspace_id);
  const issue = { workspaceId: row.workspace_id, principal: row.created_by };
  const issuer = await findAbleIssuer(tx, issue, (ctx) => permitInvitation(ctx, row.role));
  return issuer && row;
}

/**
 * Checks that the actor can invite to the role.
 * @throws ApiError `forbidden`
 */
export function permitInvitation(ctx: Pick<Context, "actor">, role: Role): void {
  permit(ctx, "members:write");
  permitRole(ctx, role);
}
