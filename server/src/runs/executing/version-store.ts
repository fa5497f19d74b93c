import type { AgentConfig } from "@beckon/contract";
import { withDefaultLimits } from "../../agents/index.ts";
import type { Database } from "../../base/database/index.ts";

/**
 * Returns the configuration and the provider's id of an agent's version; undefined if the version
 * does not exist. The id is null unless the workspace configured the provider.
 */
export async function readVersion(
  database: Database,
  pinned: { workspaceId: string; agentId: string; agentVersion: number },
): Promise<{ config: AgentConfig; providerId: string | null } | undefined> {
  const { rows } = await database.engine.query<{ config: AgentConfig; provider_id: string | null }>(
    {
      name: "read-version",
      text: `select ${withDefaultLimits("agent_versions.config")} as config, provider_id
        from agent_versions
        where agent_id = $1 and version = $2 and workspace_id = $3`,
      values: [pinned.agentId, pinned.agentVersion, pinned.workspaceId],
    },
  );
  const row = rows[0];
  return row && { config: row.config, providerId: row.provider_id };
}
