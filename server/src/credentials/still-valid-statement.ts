import { roleScopes, type Scope } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import { isAgentToken, isKeySecret, isUnexpired } from "./validity.ts";

/** The credential with which a stream was opened, and the access that the stream needs. */
export interface StreamCredential {
  readonly kind: keyof typeof queries;
  /** SHA-256 of the agent token or the key, in hex. For a session, the session's id. */
  readonly id: string;
  readonly workspaceId: string;
  /** The scope that reading the stream requires. */
  readonly scope: Scope;
  /**
   * The agents whose runs the stream shows; null if it shows the runs of all agents of the
   * workspace. With an agent's token it is exactly one agent.
   */
  readonly agentIds: readonly string[] | null;
}

const roles = Object.entries(roleScopes).flatMap(([role, scopes]) =>
  scopes.map((scope) => `('${role}', '${scope}')`),
);

/**
 * For each kind of credential, the query that selects which of the given credentials are still
 * valid and still give access to their stream. A query returns the positions of these credentials
 * in the given list, from 1.
 */
const queries = {
  token: `select c.n from credentials c
      join tokens t on t.hash = c.hash and t.workspace_id = c.workspace_id
        and t.agent_id = c.agent_ids
      join agents a on ${isAgentToken("t", "a")}
      where c.kind = 'token'`,
  key: `select c.n from credentials c
      join key_secrets s on s.hash = c.hash and s.workspace_id = c.workspace_id
      join keys k on ${isKeySecret("s", "k")}
      where c.kind = 'key' and c.scope = any (k.scopes)
        and (k.agent_ids is null or string_to_array(c.agent_ids, ' ') <@ k.agent_ids)`,
  session: `select c.n from credentials c
      join sessions s on s.id = c.id and ${isUnexpired("s")}
      join members m on m.user_id = s.user_id and m.workspace_id = c.workspace_id
      join (values ${roles.join(", ")}) as granted (role, scope)
        on granted.role = m.role and granted.scope = c.scope
      where c.kind = 'session'`,
};

const text = `with credentials as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[])
      with ordinality as c (kind, id, workspace_id, scope, agent_ids, hash, n))
    ${Object.values(queries).join("\n    union all\n    ")}`;

/**
 * Returns those of `credentials` that are still valid and still allow reading their stream. One
 * query checks all of them. The credentials belong to several workspaces, so the query uses the
 * engine's connection pool, which can read all workspaces.
 */
export async function stillValid<T extends StreamCredential>(
  database: Database,
  credentials: readonly T[],
): Promise<Set<T>> {
  const { rows } = await database.engine.query<{ n: string }>({
    name: "still-valid",
    text,
    values: [
      credentials.map(({ kind }) => kind),
      credentials.map(({ id }) => id),
      credentials.map(({ workspaceId }) => workspaceId),
      credentials.map(({ scope }) => scope),
      // Each list is sent as text, since PostgreSQL has no arrays of arrays of different lengths.
      credentials.map(({ agentIds }) => agentIds?.join(" ") ?? null),
      credentials.map(({ kind, id }) => (kind === "session" ? null : Buffer.from(id, "hex"))),
    ],
  });
  return new Set(rows.flatMap(({ n }) => credentials[Number(n) - 1] ?? []));
}
