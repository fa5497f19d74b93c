import { type Member, type Role, roleScopes } from "@beckon/contract";
import { type Context, scopesBeyond } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { findMemberRow, type MemberRow } from "./store.ts";

export function toMember(row: MemberRow): Member {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Returns a member of the request's workspace. @throws ApiError `not_found` */
export async function requireMember(
  tx: WorkspaceTransaction,
  ctx: Context,
  userId: string,
): Promise<MemberRow> {
  const row = await findMemberRow(tx, ctx.workspaceId, userId);
  if (row !== undefined) return row;
  throw new ApiError("not_found", "There is no member with this id in this workspace.");
}

/**
 * Checks that the actor has all scopes of a role. Before a member's role is changed, call this for
 * the old role and for the new one: the actor must not have fewer rights than the member, and must
 * not grant rights that the actor lacks.
 * @throws ApiError `forbidden`
 */
export function permitRole(ctx: Pick<Context, "actor">, role: Role): void {
  const missingScopes = scopesBeyond(ctx, roleScopes[role]);
  if (missingScopes.length === 0) return;
  throw new ApiError(
    "forbidden",
    ctx.actor.kind === "user"
      ? `The role ${role} is above yours, ${ctx.actor.role}. Ask an owner of the workspace.`
      : `The role ${role} has scopes that this key does not have: ${missingScopes.join(", ")}. Use a key that has all of them.`,
  );
}
