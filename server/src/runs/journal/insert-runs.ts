import { engineVersion } from "../../base/engine-version.ts";
import { insertEvents } from "../../events/index.ts";
import { insertResults } from "./end-runs.ts";

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
 *   retry_of, event_id. If `failing` is true, it also has error_code, error_message and event_data,
 *   which is the data of the event `run.failed`.
 * @param failing whether rows can have the status `failed`.
 */
export function insertRuns(source: string, { failing }: { readonly failing: boolean }): string {
  return `started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at${failing ? ", finished_at" : ""})
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    ${failing ? ", case when status = 'failed' then now() end" : ""}
  from ${source}
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, ${engineVersion}
  from ${source}
), first_events as (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    ${failing ? "case when status = 'failed' then event_data else '{}' end" : "'{}'::jsonb"} as data
  from ${source}
), ${insertEvents("first_events")}${failing ? `, ${failedResults(source)}` : ""}`;
}

function failedResults(source: string): string {
  return `failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message, 0 as input_tokens,
    0 as output_tokens, 0 as cached_input_tokens, false as usage_estimated, 0 as cost_micros
  from ${source} where status = 'failed'
), ${insertResults("failed_runs")}`;
}
