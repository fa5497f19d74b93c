import { sqlList } from "../../base/database/index.ts";
import { draftRunVersion, runVersion } from "../../base/engine-version.ts";
import { insertEvents } from "../../events/index.ts";
import { insertResults, nothingUsedColumns } from "./end-runs.ts";

/**
 * The statuses in which a run can be created. A run that is `waiting` cannot be claimed until it is
 * queued.
 */
export type InitialStatus = "running" | "queued" | "waiting" | "failed";

/**
 * Returns SQL that writes new runs with their inputs and first events. No other code inserts into
 * `runs` and `run_inputs`.
 *
 * @param source name of a common table expression with the columns run_id, workspace_id, agent_id,
 *   status, owner, version, source, trigger_id, payload, prompt_prefix, content_type, principal,
 *   retry_of, event_id. If `detailed` is true, it also has error_code, error_message and
 *   event_data, which is the data of the event `run.failed`. If `labelled` is true, it also has
 *   external_id and tags, which is text with one tag per line. If `withCallback` is true, it also
 *   has callback_subscription_id and callback_url.
 * @param options `detailed`: whether rows can have the status `failed` or the source `draft`.
 *   `labelled`: whether rows can have an external id or tags. `withCallback`: whether rows can have
 *   a callback. `withDeliveries`: see `insertEvents`.
 */
export function insertRuns(
  source: string,
  {
    detailed,
    labelled,
    withCallback,
    withDeliveries,
  }: {
    readonly detailed: boolean;
    readonly labelled: boolean;
    readonly withCallback: boolean;
    readonly withDeliveries: boolean;
  },
): string {
  return sqlList(
    `started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at${detailed ? ", finished_at" : ""})
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    ${detailed ? ", case when status = 'failed' then now() end" : ""}
  from ${source}
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version${labelled ? ", external_id, tags" : ""})
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, ${detailed ? neededVersion : runVersion}${labelled ? ", external_id, string_to_array(tags, e'\\n')" : ""}
  from ${source}
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    ${detailed ? "case when status = 'failed' then event_data else '{}' end" : "'{}'::jsonb"} as data,
    source as run_source, trigger_id, ${labelled ? "string_to_array(tags, e'\\n')" : "null::text[]"} as tags${withCallback ? ", callback_subscription_id, callback_url" : ""}
  from ${source}
)`,
    withCallback && storedCallbacks(source),
    insertEvents("first_events", {
      facts: { run: "columns", callback: withCallback ? "columns" : "none" },
      withDeliveries,
    }),
    detailed && failedResults(source),
  );
}

/** SQL of the engine version that is needed to execute the run. */
const neededVersion = `case when source = 'draft' then ${draftRunVersion} else ${runVersion} end`;

function storedCallbacks(source: string): string {
  return `callbacks as (
  insert into run_callbacks (run_id, workspace_id, subscription_id, url)
  select run_id, workspace_id, callback_subscription_id, callback_url
  from ${source} where callback_subscription_id is not null
)`;
}

function failedResults(source: string): string {
  return `failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message,
    event_data -> 'limit' as limit_reached, ${nothingUsedColumns}
  from ${source} where status = 'failed'
), ${insertResults("failed_runs")}`;
}
