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

/** @throws ApiError `not_found` */
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
 * Whoever changes members is still what they were when the request was authenticated. Call it under `lockMembers`: of a removal and what the
 * removed one does at the same moment, an invitation that would lead back among it, either comes after the other.
 * @throws ApiError `forbidden`
 */
export async function requireStanding(tx: WorkspaceTransaction, ctx: Context): Promise<void> {
  const { actor } = ctx;
  if (actor.kind !== "user") return;
  const row = await findMemberRow(tx, ctx.workspaceId, actor.id);
  if (row?.role !== actor.role)
    throw new ApiError(
      "forbidden",
      "Your role here was changed at this moment. Look at it, and try again.",
    );
}

/**
 * Nobody makes somebody more than they are themselves, nor touches somebody who is more: a role is a set of scopes, and an actor has to have
 * all of them.
 * @throws ApiError `forbidden`
 */
export function permitRole(ctx: Pick<Context, "actor">, role: Role): void {
  const lacking = scopesBeyond(ctx, roleScopes[role]);
  if (lacking.length === 0) return;
  throw new ApiError(
    "forbidden",
    ctx.actor.kind === "user"
      ? `The role ${role} is above yours, ${ctx.actor.role}. Ask an owner of the workspace.`
      : `The role ${role} may do what this key may not: ${lacking.join(", ")}. Use a key that has all of these.`,
  );
}
