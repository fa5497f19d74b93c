import { roleScopes } from "@beckon/contract";
import type { Actor } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { attempt } from "../base/errors.ts";
import { lockValidKey } from "../keys/index.ts";
import { findMemberRow } from "./store.ts";

/** Where a link was issued, and by whom: a principal as in the audit. */
interface Issue {
  readonly workspaceId: string;
  readonly principal: string;
}

/**
 * Returns the issuer if they pass `check` as they are now, with the role or the scopes of this
 * moment; a link must not outlive the right to issue it. Call it under `lockMembers` of the
 * workspace.
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
