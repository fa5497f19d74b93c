import { roleScopes } from "@beckon/contract";
import type { Actor } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { attempt } from "../base/errors.ts";
import { lockValidKey } from "../keys/index.ts";
import { findMemberRow } from "./store.ts";

/**
 * The workspace in which a link was issued, and the link's issuer in the form of the audit log, for
 * example `user:usr_…`.
 */
interface Issue {
  readonly workspaceId: string;
  readonly principal: string;
}

/**
 * Returns the issuer of a link: a member with their current role, or a key with its current scopes.
 * Returns undefined if the issuer is no longer a member or a valid key, or if `check` throws when
 * it is called with the issuer: a link must not be usable after its issuer has lost the right to
 * issue it. The caller must have called `lockMembers` for the workspace.
 */
export async function findAbleIssuer(
  tx: WorkspaceTransaction,
  issue: Issue,
  check: (ctx: { readonly actor: Actor }) => void,
): Promise<Actor | undefined> {
  const actor = await findIssuer(tx, issue);
  return actor !== undefined && attempt(() => check({ actor })).ok ? actor : undefined;
}

async function findIssuer(
  tx: WorkspaceTransaction,
  { workspaceId, principal }: Issue,
): Promise<Actor | undefined> {
  const [kind, id = ""] = principal.split(":");
  if (kind === "user") {
    const row = await findMemberRow(tx, workspaceId, id);
    return row && { kind, id, role: row.role, scopes: roleScopes[row.role] };
  }
  if (kind === "key") {
    const key = await lockValidKey(tx, workspaceId, id);
    return key && { kind, id, scopes: key.scopes, agentIds: key.agentIds };
  }
  return undefined;
}
