import {
  type AgentConfig,
  defaultMaxAnswerBytes,
  defaultReserveOutputTokens,
} from "@beckon/contract";
import { sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import type { PageRequest } from "../../base/page.ts";

interface Owner {
  readonly workspaceId: string;
  readonly agentId: string;
}

export interface VersionEntryRow {
  readonly version: number;
  readonly created_at: Date;
  readonly created_by: string;
}

/**
 * One version of an agent. `provider_id` is the id of the workspace's provider that serves the
 * model; null for a built-in model and for a provider of the operator.
 */
export interface StoredVersion extends VersionEntryRow {
  readonly config: AgentConfig;
  readonly provider_id: string | null;
}

/**
 * Returns an SQL expression for a stored configuration, with the defaults of limits that did not
 * exist when it was stored.
 */
export const withDefaultLimits = (config: string) => `jsonb_set(${config}, '{limits}',
  '${JSON.stringify({
    max_answer_bytes: defaultMaxAnswerBytes,
    max_cost_micros: null,
    reserve_output_tokens: defaultReserveOutputTokens,
  })}'::jsonb || (${config} -> 'limits'))`;

/** SQL expression for a version's configuration. */
const configColumn = withDefaultLimits("agent_versions.config");

export const storedConfig = sql<AgentConfig>`${sql.raw(configColumn)}`;

const versions = (tx: WorkspaceTransaction, { workspaceId, agentId }: Owner) =>
  tx
    .selectFrom("agent_versions")
    .where("agent_id", "=", agentId)
    .where("workspace_id", "=", workspaceId);

/**
 * Returns up to `page.limit + 1` versions, newest first. If there are more than `page.limit`,
 * another page exists.
 */
export function listVersionRows(
  tx: WorkspaceTransaction,
  owner: Owner,
  page: PageRequest,
): Promise<VersionEntryRow[]> {
  const query = versions(tx, owner)
    .select(["version", "created_at", "created_by"])
    .orderBy("version", "desc")
    .limit(page.limit + 1);
  return (
    page.below === undefined ? query : query.where("version", "<", Number(page.below))
  ).execute();
}

export function findVersion(
  tx: WorkspaceTransaction,
  owner: Owner,
  version: number,
): Promise<StoredVersion | undefined> {
  return versions(tx, owner)
    .select(["version", "created_at", "created_by", storedConfig.as("config"), "provider_id"])
    .where("version", "=", version)
    .executeTakeFirst();
}
