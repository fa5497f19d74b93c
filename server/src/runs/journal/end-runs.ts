import type { RunError } from "@beckon/contract";
import type { Parameters } from "../../base/database/index.ts";
import { areReportedAtRelease, journalLetters } from "../../base/journal/index.ts";
import { insertEvents } from "../../events/index.ts";
import { sumEntries, tokenColumns } from "../../usage/index.ts";
import { finalEvent, nothingUsed } from "./journal-entry.ts";

/**
 * Returns SQL that writes the results of runs. No other code inserts into `run_results`.
 *
 * @param source name of a common table expression with the columns run_id, workspace_id, output,
 *   error_code, error_message, input_tokens, output_tokens, cached_input_tokens,
 *   cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros, limit_reached.
 * @param options `returnsRuns`: whether other parts of the statement read `written_results`.
 *   Default false.
 */
export function insertResults(
  source: string,
  { returnsRuns = false }: { readonly returnsRuns?: boolean } = {},
): string {
  return `written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from ${source}${returnsRuns ? " returning run_id" : ""}
)`;
}

/** SQL columns with the usage and the cost of a run that used nothing. */
export const nothingUsedColumns = `0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros`;

/**
 * Returns assignments for `update runs r set …` that reserve the sequence numbers of `count` more
 * events. They also set `last_transaction`, by which the events of a workspace are ordered, so it
 * must never decrease for a run. `greatest` is needed because a statement can get its transaction
 * id, wait for the row, and write the row after a transaction with a higher id.
 */
export function addEvents(count: string): string {
  return `last_seq = r.last_seq + ${count},
    last_transaction = greatest(r.last_transaction, current_transaction())`;
}

/**
 * Final status and error of runs that end while no process executes them. All runs that one
 * statement ends get the same status and error.
 */
export interface UnexecutedEnd {
  readonly status: "failed" | "cancelled";
  readonly error: RunError;
}

/**
 * Returns SQL that ends runs that no process executes: it writes their status, final event and
 * result. If a run was executed and then released or held, its usage and cost are the sums of its
 * entries in the usage ledger. They are marked as estimated if an entry is an estimate, or if a
 * process may have sent a model call that the journal does not report.
 *
 * @param source name of a common table expression with the columns id, workspace_id and event_id.
 *   It must have locked the rows of its runs.
 * @param set assignments to more columns of `runs`, each followed by a comma.
 * @returns common table expressions, one of which is `ended (id)`.
 */
export function endUnexecuted<Input>(
  p: Parameters<Input>,
  {
    source,
    end,
    set = "",
  }: {
    readonly source: string;
    readonly end: (input: Input) => UnexecutedEnd;
    readonly set?: string;
  },
): string {
  const status = p.value("text", (input) => end(input).status);
  const event = p.value("jsonb", (input) =>
    JSON.stringify(finalEvent({ ...end(input), ...nothingUsed }).data),
  );
  const type = p.value("text", (input) => finalEvent({ ...end(input), ...nothingUsed }).type);
  const code = p.value("text", (input) => end(input).error.code);
  const message = p.value("text", (input) => end(input).error.message);
  return `ended as (
  update runs r set status = ${status}, finished_at = now(), ${set} ${addEvents("1")}
  from ${source} s where r.id = s.id and r.workspace_id = s.workspace_id
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, s.event_id
), spent as materialized (
  select e.id as run_id, u.*, u.is_estimated or not ${areCallsReported("e")} as usage_estimated
  from ended e cross join lateral (${sumEntries("e")}) as u
  where e.fence > 0
), last_events as not materialized (
  select e.id as run_id, e.last_seq as seq, e.workspace_id, e.agent_id,
    e.last_transaction as transaction, e.event_id as id, ${type} as type,
    case when s.run_id is null then ${event} else ${event} || ${spentData("s")} end as data
  from ended e left join spent s on s.run_id = e.id
), ${insertEvents("last_events")}, results as (
  select id as run_id, workspace_id, null::text as output, ${code} as error_code,
    ${message} as error_message, null::jsonb as limit_reached, ${nothingUsedColumns}
  from ended where fence = 0
  union all
  select e.id, e.workspace_id, null, ${code}, ${message}, null, s.input_tokens, s.output_tokens,
    s.cached_input_tokens, s.cache_write_tokens, s.reasoning_tokens, s.usage_estimated,
    s.cost_micros
  from ended e join spent s on s.run_id = e.id
), ${insertResults("results")}`;
}

/**
 * Returns an SQL condition that the journal of a run that no process executes reports all its model
 * calls. A held run has made none.
 * @param run alias of a row with the column id.
 */
const areCallsReported = (run: string) => `(
    select coalesce(${areReportedAtRelease(journalLetters("j"))}
      or (array_agg(j.type order by j.seq desc))[1] = 'run.waiting', false)
    from events j where j.run_id = ${run}.id
  )`;

/**
 * Returns SQL that builds the fields `usage` and `cost_micros` of a run's final event.
 * @param spent alias of the row with the sums of the run's entries in the usage ledger, and
 *   `usage_estimated`.
 */
function spentData(spent: string): string {
  const [input, output, cached, ...others] = tokenColumns;
  const always = [input, output, cached].map((name) => `'${name}', ${spent}.${name}`);
  const unlessZero = others.map((name) => `'${name}', nullif(${spent}.${name}, 0)`);
  const fields = [...always, ...unlessZero, `'estimated', nullif(${spent}.usage_estimated, false)`];
  return `jsonb_build_object('usage',
      jsonb_strip_nulls(jsonb_build_object(${fields.join(", ")})),
      'cost_micros', ${spent}.cost_micros)`;
}
