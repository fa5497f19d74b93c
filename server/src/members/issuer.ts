import { type Role, roleScopes } from "@beckon/contract";
import { type Actor, principalOf } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { attempt } from "../base/errors.ts";
import { type FoundKey, findValidKeys, lockValidKey } from "../keys/index.ts";
import { findMemberRow, findRoles } from "./store.ts";

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

/**
 * Returns the issuers of links of one workspace by principal, with their current role or scopes.
 * Issuers that are no longer members or valid keys are missing. Locks nothing, so that a list of
 * links neither writes nor waits: use it only to show whether a link is valid.
 */
export async function findIssuers(
  tx: WorkspaceTransaction,
  workspaceId: string,
  principals: readonly string[],
): Promise<Map<string, Actor>> {
  const idsAfter = (prefix: string) => [
    ...new Set(principals.flatMap((each) => each.split(prefix)[1] ?? [])),
  ];
  const roles = await findRoles(tx, workspaceId, idsAfter("user:"));
  const keys = await findValidKeys(tx, workspaceId, idsAfter("key:"));
  const actors = [...[...roles].map(([id, role]) => memberActor(id, role)), ...keys.map(keyActor)];
  return new Map(actors.map((actor) => [principalOf(actor), actor]));
}

async function findIssuer(
  tx: WorkspaceTransaction,
  { workspaceId, principal }: Issue,
): Promise<Actor | undefined> {
  const [kind, id = ""] = principal.split(":");
  if (kind === "user") {
    const row = await findMemberRow(tx, workspaceId, id);
    return row && memberActor(id, row.role);
  }
  if (kind === "key") {
    const key = await lockValidKey(tx, workspaceId, id);
    return key && keyActor(key);
  }
  return undefined;
}

function memberActor(id: string, role: Role): Actor {
  return { kind: "user", id, role, scopes: roleScopes[role] };
}

function keyActor({ id, scopes, agentIds }: FoundKey): Actor {
  return { kind: "key", id, scopes, agentIds };
}
