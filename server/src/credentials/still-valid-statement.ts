import { roleScopes, type Scope } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import { isAgentToken, isKeySecret, isUnexpired } from "./validity.ts";

/**
 * A credential that was accepted a while ago, and what for. `id` is the SHA-256 of an agent token or a key, in hex, or the id of a session.
 * `agentIds`: what is read is of these agents; null: of the whole workspace.
 */
export interface StreamCredential {
  readonly kind: keyof typeof standing;
  readonly id: string;
  readonly workspaceId: string;
  readonly scope: Scope;
  readonly agentIds: readonly string[] | null;
}

const roles = Object.entries(roleScopes).flatMap(([role, scopes]) =>
  scopes.map((scope) => `('${role}', '${scope}')`),
);

/** For each kind, which of `held` are still valid and still allow what is read. */
const standing = {
  token: `select held.n from held
      join tokens t on t.hash = held.hash and t.workspace_id = held.workspace_id and t.agent_id = held.agent_ids
      join agents a on ${isAgentToken("t", "a")}
      where held.kind = 'token'`,
  key: `select held.n from held
      join key_secrets s on s.hash = held.hash and s.workspace_id = held.workspace_id
      join keys k on ${isKeySecret("s", "k")}
      where held.kind = 'key' and held.scope = any (k.scopes) and (k.agent_ids is null or string_to_array(held.agent_ids, ' ') <@ k.agent_ids)`,
  session: `select held.n from held
      join sessions s on s.id = held.id and ${isUnexpired("s")}
      join members m on m.user_id = s.user_id and m.workspace_id = held.workspace_id
      join (values ${roles.join(", ")}) as may (role, scope) on may.role = m.role and may.scope = held.scope
      where held.kind = 'session'`,
};

const text = `with held as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[])
      with ordinality as held (kind, id, workspace_id, scope, agent_ids, hash, n))
    ${Object.values(standing).join("\n    union all\n    ")}`;

/** Those that still stand, by one query for all. Runs under all workspaces, as that which accepted them did. */
export async function stillValid<T extends StreamCredential>(
  database: Database,
  held: readonly T[],
): Promise<Set<T>> {
  const { rows } = await database.engine.query<{ n: string }>({
    name: "what-stands",
    text,
    values: [
      held.map(({ kind }) => kind),
      held.map(({ id }) => id),
      held.map(({ workspaceId }) => workspaceId),
      held.map(({ scope }) => scope),
      // A row of arrays of several lengths is not one of PostgreSQL's.
      held.map(({ agentIds }) => agentIds?.join(" ") ?? null),
      held.map(({ kind, id }) => (kind === "session" ? null : Buffer.from(id, "hex"))),
    ],
  });
  return new Set(rows.flatMap(({ n }) => held[Number(n) - 1] ?? []));
}
