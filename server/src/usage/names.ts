import { type Scope, workspaceScopes } from "@beckon/contract";
import { agentLimit, type Context, scopesBeyond } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { type Named, readNames } from "./names-store.ts";

/**
 * The resources that each kind of principal refers to, and the scope that is needed to read their
 * names.
 */
const sources: Readonly<Record<string, { readonly of: Named; readonly scope: Scope }>> = {
  token: { of: "agents", scope: "agents:read" },
  trigger: { of: "triggers", scope: "triggers:read" },
  key: { of: "keys", scope: "keys:read" },
  user: { of: "users", scope: "members:read" },
};

/**
 * Returns the names of callers, by their principals, and of agents, by their ids. It returns only
 * names of resources that the actor can read.
 * @param principals for example `key:key_…`.
 */
export async function namesOf(
  tx: WorkspaceTransaction,
  ctx: Context,
  { principals, agentIds }: { principals: readonly string[]; agentIds: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const wanted = [
    ...agentIds.map((id) => ({ key: id, kind: "token", id })),
    ...principals.map((principal) => {
      const [kind = "", id = ""] = principal.split(":", 2);
      return { key: principal, kind, id };
    }),
  ].filter(({ kind }) => canRead(ctx, sources[kind]?.scope));
  if (wanted.length === 0) return new Map();
  const idsOf = (of: Named) => [
    ...new Set(wanted.filter(({ kind }) => sources[kind]?.of === of).map(({ id }) => id)),
  ];
  const names = await readNames(
    tx,
    ctx.workspaceId,
    {
      agents: idsOf("agents"),
      triggers: idsOf("triggers"),
      keys: idsOf("keys"),
      users: idsOf("users"),
    },
    agentLimit(ctx),
  );
  return new Map(
    wanted.flatMap(({ key, id }) => {
      const name = names.get(id);
      return name === undefined ? [] : [[key, name] as const];
    }),
  );
}

function canRead(ctx: Context, scope: Scope | undefined): boolean {
  if (scope === undefined) return false;
  // The same rule as in `permit`: a key that is limited to agents cannot use scopes that concern
  // the whole workspace.
  if (workspaceScopes.includes(scope) && agentLimit(ctx) !== undefined) return false;
  return scopesBeyond(ctx, [scope]).length === 0;
}
