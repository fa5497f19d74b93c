import type { Database } from "../../base/database/index.ts";

/**
 * Returns whether several workspaces have agents, so that a workspace could need capacity while
 * another one uses it.
 */
export async function severalWorkspacesHaveAgents({
  engine,
}: Pick<Database, "engine">): Promise<boolean> {
  const edge = (order: string) => `(select workspace_id from agents where deleted_at is null
    order by workspace_id ${order} limit 1)`;
  const { rows } = await engine.query<{ several: boolean }>({
    name: "several-workspaces",
    text: `select ${edge("asc")} is distinct from ${edge("desc")} as several`,
    values: [],
  });
  return rows[0]?.several ?? true;
}
