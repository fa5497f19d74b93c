import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";

/** The kinds of resources whose names a report shows. */
export type Named = "agents" | "triggers" | "keys" | "users";

/**
 * Returns the names of resources of the workspace by their ids. Deleted agents and triggers have a
 * name; deleted keys and people who left the workspace have none. Reads the tables itself, because
 * this module must not import modules of its own layer (`keys/`) or of layers above (`agents/`).
 * @param agentLimit the agents to which the actor is limited; undefined if it is not limited. A
 *   limited actor can only read keys whose agents are all among these, so the other keys get no
 *   name.
 */
export async function readNames(
  tx: WorkspaceTransaction,
  workspaceId: string,
  ids: Readonly<Record<Named, readonly string[]>>,
  agentLimit: readonly string[] | undefined,
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
        and ${agentLimit === undefined ? sql`true` : sql`agent_ids <@ ${[...agentLimit]}::text[]`}
    union all
    select u.id, u.name from users u join members m on m.user_id = u.id
      where m.workspace_id = ${workspaceId} and u.id = any (${[...ids.users]}::text[])`.execute(tx);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
