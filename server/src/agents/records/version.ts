import type { AgentConfig, AgentVersion, AgentVersionEntry } from "@beckon/contract";
import { changes } from "../../base/audit/index.ts";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { showSecrets } from "./secret-locations.ts";
import type { AgentRow } from "./store.ts";
import { findVersion, type StoredVersion, type VersionEntryRow } from "./version-store.ts";

/** The maximum of PostgreSQL's type `int`, in which version numbers are stored. */
const maxVersion = 2_147_483_647;

/** The agent and version in a request's path. */
export interface VersionInput {
  readonly agentId: string;
  /** The version number as in the path. `requireVersion` parses it. */
  readonly version: string;
}

/** Returns a version as lists show it, without its configuration. */
export function toVersionEntry({
  version,
  created_at,
  created_by,
}: VersionEntryRow): AgentVersionEntry {
  return { version, created_at: created_at.toISOString(), created_by };
}

/**
 * Returns a version as responses show it. Its secrets are shown as they are now, because a version
 * contains only the ids of secrets.
 */
export function toVersion(agent: AgentRow, row: StoredVersion): AgentVersion {
  return {
    ...toVersionEntry(row),
    agent_id: agent.id,
    ...row.config,
    tools: showSecrets(row.config.tools, agent.secrets),
    provider_id: row.provider_id,
  };
}

/**
 * Returns the differences between the agent's current version and another configuration, for an
 * audit entry. `provider_id` is one of the fields, because the same model can be resolved to
 * another provider than before, for example if the workspace now has its own of that name.
 */
export function versionChanges(
  { config, provider_id }: AgentRow,
  after: { readonly config: AgentConfig; readonly providerId: string | null },
): ReturnType<typeof changes> {
  return changes({ ...config, provider_id }, { ...after.config, provider_id: after.providerId });
}

/**
 * Returns a version of the agent.
 * @throws ApiError `not_found`, including when `version` is not a number.
 */
export async function requireVersion(
  tx: WorkspaceTransaction,
  agent: AgentRow,
  version: string | number,
): Promise<StoredVersion> {
  const number = /^[1-9]\d{0,9}$/.test(String(version)) ? Number(version) : 0;
  const owner = { workspaceId: agent.workspace_id, agentId: agent.id };
  const row = number > 0 && number <= maxVersion ? await findVersion(tx, owner, number) : undefined;
  if (row === undefined)
    throw new ApiError(
      "not_found",
      `This agent has no such version. Its versions are 1 to ${agent.version}.`,
    );
  return row;
}
