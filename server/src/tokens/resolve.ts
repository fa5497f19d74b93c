import { hashCredential, isCredential } from "../base/secrets/index.ts";
import type { Database } from "../base/database/index.ts";

/**
 * The agent and workspace an agent token belongs to, or undefined: unknown, rotated, revoked, expired, or its agent is deleted.
 * Runs under all workspaces, since it is what tells the workspace.
 */
export async function resolveToken(
  database: Database,
  token: string,
): Promise<{ workspaceId: string; agentId: string } | undefined> {
  if (!isCredential("bka_", token)) return undefined;
  const { rows } = await database.engine.query<{ workspace_id: string; agent_id: string }>({
    name: "resolve-token",
    text: `select t.workspace_id, t.agent_id
      from tokens t join agents a on a.id = t.agent_id and a.workspace_id = t.workspace_id and a.deleted_at is null
      where t.hash = $1 and t.trigger_id is null and (t.expires_at is null or t.expires_at > now())`,
    values: [hashCredential(token)],
  });
  const row = rows[0];
  return row && { workspaceId: row.workspace_id, agentId: row.agent_id };
}
