import { receiving } from "@beckon/contract";
import { sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import type { AccessibleAgents } from "../access.ts";
import { isAccessible } from "../access-store.ts";
import type { RunDraft, RunLabels, SenderEvent, StartRow } from "../starting/index.ts";

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
  /** Whether the filter or the message template failed, so the payload is not what it would be. */
  readonly isUnmapped: boolean;
  /** The configuration of a draft run; undefined for other runs. */
  readonly draft: RunDraft | undefined;
}

/** Returns the run to retry; undefined if it does not exist, or belongs to none of `agentIds`. */
export async function readRetried(
  tx: WorkspaceTransaction,
  {
    workspaceId,
    runId,
    agentIds,
  }: { workspaceId: string; runId: string; agentIds: AccessibleAgents },
): Promise<RetriedRun | undefined> {
  const row = await tx
    .selectFrom("runs as r")
    .innerJoin("run_inputs as i", "i.run_id", "r.id")
    .leftJoin("run_drafts as d", (join) =>
      join.onRef("d.run_id", "=", "i.run_id").onRef("d.workspace_id", "=", "i.workspace_id"),
    )
    .leftJoin("run_results as e", (join) =>
      join.onRef("e.run_id", "=", "i.run_id").onRef("e.workspace_id", "=", "i.workspace_id"),
    )
    .select(["d.config", "d.provider_id", "e.error_code"])
    .select(["r.id", "r.agent_id", "r.finished_at", "i.agent_version", "i.source", "i.trigger_id"])
    .select(["i.payload", "i.prompt_prefix", "i.content_type", "i.external_id", "i.tags"])
    .where("r.id", "=", runId)
    .where("r.workspace_id", "=", workspaceId)
    .where(isAccessible("r.agent_id", agentIds))
    .executeTakeFirst();
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
    isUnmapped: row.error_code === "mapping_error",
    draft:
      row.config === null
        ? undefined
        : { config: JSON.stringify(row.config), providerId: row.provider_id },
  };
}

/** Maximum number of retries, of retries of a run, back to the run that a request has started. */
const maxRetries = 100;

/**
 * Returns the event of a run that was created already failed, or that retries such a run. Such a
 * run has not bound the event's id. Undefined if there is none, if the trigger no longer recognizes
 * events, or if the id is bound to the run or to a run that it retries, so that a retry repeats it
 * on purpose.
 * @param ref.isUnbound whether to return only an event whose id is bound to no run at all
 */
export async function readSenderEvent(
  tx: WorkspaceTransaction,
  {
    workspaceId,
    runId,
    isUnbound,
  }: { readonly workspaceId: string; readonly runId: string; readonly isUnbound: boolean },
): Promise<SenderEvent | undefined> {
  const { rows } = await sql<{ event_id: string; receiving: unknown }>`
    with recursive origins as (
      select ${runId} as run_id, 0 as retries
      union all
      select i.retry_of, o.retries + 1 from origins o cross join lateral (
        select i.retry_of from run_inputs i
        where i.run_id = o.run_id and i.workspace_id = ${workspaceId} limit 1
      ) i where i.retry_of is not null and o.retries < ${maxRetries}
    )
    select w.event_id, w.receiving from origins o cross join lateral (
      select q.event_id, g.receiving from received_requests q
      join triggers g on g.id = q.trigger_id and g.workspace_id = q.workspace_id
      where q.run_id = o.run_id and q.workspace_id = ${workspaceId}
        and q.outcome in ('mapping_error', 'limit_reached')
        and q.event_id is not null and g.receiving is not null
        and not exists (
          select from trigger_event_ids e where e.workspace_id = q.workspace_id
            and e.trigger_id = q.trigger_id and e.event_id = q.event_id
            and (${isUnbound}::boolean or e.run_id in (select run_id from origins)) offset 0)
      limit 1
    ) w limit 1`.execute(tx);
  const [row] = rows;
  return (
    row && {
      eventId: row.event_id,
      eventIdDays: receiving.parse(row.receiving).event_id_days,
    }
  );
}
