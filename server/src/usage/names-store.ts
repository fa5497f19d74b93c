import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";

/** The kinds of resources whose names a report shows. */
export type Named = "agents" | "triggers" | "keys" | "users";

/**
 * Returns the names of resources of the workspace by their ids. Deleted agents and triggers have a
 * name; deleted keys and people who left the workspace have none. Reads the tables itself, because
 * this module must not import modules of its own layer (`keys/`) or of layers above (`agents/`).
 * @param agentIds if it is not undefined, a key gets a name only if it is limited to some of these
 *   agents.
 */
export async function readNames(
  tx: WorkspaceTransaction,
  workspaceId: string,
  ids: Readonly<Record<Named, readonly string[]>>,
  agentIds: readonly string[] | undefined,
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from agents
      where workspace_id = ${workspaceId} and id = any (${[...ids.agents]}::text[])
    union all
    select id, name from triggers
      where workspace_id = ${workspaceId} and id = any (${[...ids.triggers]}::text[])
    union all
    select id, name from keys
      where workspace_id = ${workspaceId} and id = any (${[...ids.keys]}::text[])
        and ${agentIds === undefined ? sql`true` : sql`agent_ids <@ ${[...agentIds]}::text[]`}
    union all
    select u.id, u.name from users u join members m on m.user_id = u.id
      where m.workspace_id = ${workspaceId} and u.id = any (${[...ids.users]}::text[])`.execute(tx);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
