import type { AgentVersion, AgentVersionEntry } from "@beckon/contract";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { showSecrets } from "./secret-places.ts";
import type { AgentRow } from "./store.ts";
import { findVersion, type StoredVersion, type VersionEntryRow } from "./version-store.ts";

/** As PostgreSQL's `int`. */
const highest = 2_147_483_647;

/** The agent and version that a path names, not parsed yet. */
export interface VersionInput {
  readonly agentId: string;
  /** As it stands in the path. */
  readonly version: string;
}

/** Converts a row to a version as lists show it: without its configuration. */
export function toVersionEntry({
  version,
  created_at,
  created_by,
}: VersionEntryRow): AgentVersionEntry {
  return { version, created_at: created_at.toISOString(), created_by };
}

/** Its secrets as they are today: a version refers to them, it does not hold them. */
export function toVersion(agent: AgentRow, row: StoredVersion): AgentVersion {
  return {
    ...toVersionEntry(row),
    agent_id: agent.id,
    ...row.config,
    tools: showSecrets(row.config.tools, agent.secrets),
  };
}

/** @throws ApiError `not_found` for what is no version of the agent, or no number. */
export async function requireVersion(
  tx: WorkspaceTransaction,
  agent: AgentRow,
  version: string | number,
): Promise<StoredVersion> {
  const number = /^[1-9]\d{0,9}$/.test(String(version)) ? Number(version) : 0;
  const owner = { workspaceId: agent.workspace_id, agentId: agent.id };
  const row = number > 0 && number <= highest ? await findVersion(tx, owner, number) : undefined;
  if (row === undefined)
    throw new ApiError(
      "not_found",
      `This agent has no such version. It has 1 to ${agent.version}.`,
    );
  return row;
}
