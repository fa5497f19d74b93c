import { sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";

/** How far a run has progressed. */
export interface Progress {
  readonly agentId: string;
  readonly lastSeq: number;
  readonly finished: boolean;
}

/**
 * Returns the progress of a run; undefined if the run does not exist, or belongs to none of
 * `agentIds`.
 * @param agentIds the agents whose runs the caller can access; undefined if the caller can access
 *   the runs of all agents.
 */
export async function findProgress(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runId: string,
  agentIds: readonly string[] | undefined,
): Promise<Progress | undefined> {
  const query = tx
    .selectFrom("runs")
    .select([
      "agent_id as agentId",
      "last_seq as lastSeq",
      sql<boolean>`finished_at is not null`.as("finished"),
    ])
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", runId);
  return (
    agentIds === undefined ? query : query.where("agent_id", "in", agentIds)
  ).executeTakeFirst();
}
