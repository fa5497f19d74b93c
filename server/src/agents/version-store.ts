import type { AgentConfig } from "@beckon/contract";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import type { PageRequest } from "../base/page.ts";

interface Owner {
  readonly workspaceId: string;
  readonly agentId: string;
}

export interface VersionEntryRow {
  readonly version: number;
  readonly created_at: Date;
  readonly created_by: string;
}

export interface StoredVersion extends VersionEntryRow {
  readonly config: AgentConfig;
  readonly provider_id: string | null;
}

const versions = (tx: WorkspaceTransaction, { workspaceId, agentId }: Owner) =>
  tx.selectFrom("agent_versions").where("agent_id", "=", agentId).where("workspace_id", "=", workspaceId);

export function listVersionRows(tx: WorkspaceTransaction, owner: Owner, page: PageRequest): Promise<VersionEntryRow[]> {
  const query = versions(tx, owner)
    .select(["version", "created_at", "created_by"])
    .orderBy("version", "desc")
    .limit(page.limit + 1);
  return (page.below === undefined ? query : query.where("version", "<", Number(page.below))).execute();
}

export function findVersion(tx: WorkspaceTransaction, owner: Owner, version: number): Promise<StoredVersion | undefined> {
  return versions(tx, owner)
    .select(["version", "created_at", "created_by", "config", "provider_id"])
    .where("version", "=", version)
    .executeTakeFirst();
}
