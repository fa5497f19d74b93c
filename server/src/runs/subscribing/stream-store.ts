import { sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import type { AccessibleAgents } from "../access.ts";
import { isAccessible } from "../access-store.ts";

/** How far a run has progressed. */
export interface Progress {
  readonly agentId: string;
  readonly lastSeq: number;
  readonly finished: boolean;
}

/**
 * Returns the progress of a run; undefined if the run does not exist, or belongs to none of
 * `agentIds`.
 */
export async function findProgress(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runId: string,
  agentIds: AccessibleAgents,
): Promise<Progress | undefined> {
  return tx
    .selectFrom("runs")
    .select([
      "agent_id as agentId",
      "last_seq as lastSeq",
      sql<boolean>`finished_at is not null`.as("finished"),
    ])
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", runId)
    .where(isAccessible("agent_id", agentIds))
    .executeTakeFirst();
}
