import type { WorkspaceTransaction } from "../../base/database/index.ts";
import type { RunDraft, RunLabels, StartRow } from "../starting/index.ts";

/** The properties of the original run that a retry needs. */
export interface RetriedRun {
  readonly runId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly source: StartRow["source"];
  readonly triggerId: string | null;
  readonly payload: string;
  readonly promptPrefix: string;
  readonly contentType: string | null;
  readonly labels: RunLabels | undefined;
  readonly ended: boolean;
  /** The configuration of a draft run; undefined for other runs. */
  readonly draft: RunDraft | undefined;
}

/**
 * Returns the run to retry; undefined if it does not exist, or belongs to none of `agentIds`.
 * @param agentIds the agents whose runs the caller can access; undefined if the caller can access
 *   the runs of all agents.
 */
export async function readRetried(
  tx: WorkspaceTransaction,
  {
    workspaceId,
    runId,
    agentIds,
  }: { workspaceId: string; runId: string; agentIds: readonly string[] | undefined },
): Promise<RetriedRun | undefined> {
  const query = tx
    .selectFrom("runs as r")
    .innerJoin("run_inputs as i", "i.run_id", "r.id")
    .leftJoin("run_drafts as d", (join) =>
      join.onRef("d.run_id", "=", "i.run_id").onRef("d.workspace_id", "=", "i.workspace_id"),
    )
    .select(["d.config", "d.provider_id"])
    .select(["r.id", "r.agent_id", "r.finished_at", "i.agent_version", "i.source", "i.trigger_id"])
    .select(["i.payload", "i.prompt_prefix", "i.content_type", "i.external_id", "i.tags"])
    .where("r.id", "=", runId)
    .where("r.workspace_id", "=", workspaceId);
  const row = await (agentIds === undefined
    ? query
    : query.where("r.agent_id", "in", agentIds)
  ).executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    runId: row.id,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    source: row.source,
    triggerId: row.trigger_id,
    payload: row.payload,
    promptPrefix: row.prompt_prefix,
    contentType: row.content_type,
    labels:
      row.external_id === null && row.tags === null
        ? undefined
        : { externalId: row.external_id, tags: row.tags ?? [] },
    ended: row.finished_at !== null,
    draft:
      row.config === null
        ? undefined
        : { config: JSON.stringify(row.config), providerId: row.provider_id },
  };
}
