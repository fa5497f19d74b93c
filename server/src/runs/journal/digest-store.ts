import type { Database } from "../../base/database/index.ts";
import { areReportedAtClaim, journalLetters } from "../../base/journal/index.ts";
import type { JournalDigest } from "../../engine/index.ts";
import { isWaitRecordSql } from "../../reservations/index.ts";
import type { RunRef } from "../run.ts";
import { configOf, providerIdOf } from "./config-statement.ts";
import { type SpentColumns, spentOf } from "./result-store.ts";

/**
 * Maximum size of the rows that the query of `readDigest` returns for journal entries, in bytes.
 * The newest entries have rows. Older ones that do not fit have none, but the row `total` still
 * counts their steps and their usage.
 */
const maxBytes = 1024 * 1024;

interface Row {
  readonly type: "run.step" | "run.step_lost" | "run.tool_call" | "run.tool_result" | "total";
  readonly step: number | null;
  readonly call_id: string | null;
  readonly tool: string | null;
  readonly calls: readonly string[] | null;
  /** Set only in the row `total`. */
  readonly total: Total | null;
}

interface Total extends SpentColumns {
  /** Number of steps with a response. */
  readonly steps: number;
  /** Name of the model in the form `provider/model`. */
  readonly model: string | null;
  /** Id of the workspace's own provider; null if the model is built in or the operator's. */
  readonly provider_id: string | null;
  /** Bytes of the prompt, the tools and the whole journal; null if the run does not exist. */
  readonly bytes: number | null;
  readonly was_waiting: boolean | null;
  readonly was_reported: boolean | null;
}

/** What is needed to estimate the usage of a model call that was lost with the run's process. */
export interface LostPrompt {
  /** The model in the form `provider/model`. */
  readonly model: string;
  /** Id of the workspace's own provider; null if the model is built in or the operator's. */
  readonly providerId: string | null;
  /** Approximate size of the request in bytes: instructions, tools, input and earlier steps. */
  readonly bytes: number;
  /**
   * Whether the run waited for a limit, its provider or memory when its process was lost, so that
   * no model call was in flight.
   */
  readonly wasWaiting: boolean;
}

/**
 * Reads a summary of a run's journal, the digest, from which the engine decides how the run ends.
 * The digest contains no payloads, and its size is limited by `maxBytes`. It contains the tool
 * calls of the last step only: all calls of earlier steps have results, because otherwise the model
 * would not have been called again.
 *
 * Artifacts are read only for the tool calls in a large last step, and for events that have no
 * fields besides the reference, like all large events of earlier versions of Beckon.
 */
export async function readDigest(
  database: Database,
  runId: string,
): Promise<{ readonly digest: JournalDigest; readonly prompt: LostPrompt }> {
  const { rows } = await database.engine.query<Row>({
    name: "read-digest",
    text: `
with last_step as (
  select coalesce(max(seq), 0) as seq from events where run_id = $1 and type = 'run.step'
), chosen as (
  select e.seq, e.type,
    case when e.data ? 'artifact_id' and (e.seq = l.seq or not e.data ? 'step') then (
      select convert_from(f.content, 'UTF8')::jsonb from artifacts f
      where f.id = e.data ->> 'artifact_id' and f.run_id = e.run_id
    ) else e.data end as data, e.seq = l.seq as is_last
  from events e, last_step l
  where e.run_id = $1
    and (e.type in ('run.step', 'run.step_lost')
      or (e.type in ('run.tool_call', 'run.tool_result') and e.seq > l.seq))
), facts as (
  select seq, type, (data ->> 'step')::int as step, data ->> 'call_id' as call_id,
    case when type = 'run.tool_call' then data ->> 'tool' end as tool,
    case when is_last then
      jsonb_path_query_array(data, '$.parts[*] ? (@.type == "tool_call").call_id') end as calls
  from chosen
), spent as (
  select count(*) filter (where type = 'run.step') as steps,
    coalesce(sum((data -> 'usage' ->> 'input_tokens')::bigint), 0) as input_tokens,
    coalesce(sum((data -> 'usage' ->> 'output_tokens')::bigint), 0) as output_tokens,
    coalesce(sum((data -> 'usage' ->> 'cached_input_tokens')::bigint), 0) as cached_input_tokens,
    coalesce(sum((data -> 'usage' ->> 'cache_write_tokens')::bigint), 0) as cache_write_tokens,
    coalesce(sum((data -> 'usage' ->> 'reasoning_tokens')::bigint), 0) as reasoning_tokens,
    coalesce(bool_or((data -> 'usage' ->> 'estimated')::boolean), false) as usage_estimated,
    case when count(data ->> 'cost_micros') = count(*)
      then coalesce(sum((data ->> 'cost_micros')::bigint), 0) end as cost_micros
  from chosen where type in ('run.step', 'run.step_lost')
), newest as (
  select *, sum(octet_length(facts::text)) over (order by seq desc) as bytes from facts
), prompt as (
  select c.config ->> 'model' as model, ${providerIdOf("r", "i")} as provider_id,
    octet_length(run_input(i.prompt_prefix, i.payload))
      + coalesce(octet_length(c.config ->> 'instructions'), 0)
      + coalesce(octet_length(nullif(c.config ->> 'tools', '[]')), 0) + journal.bytes as bytes,
    ${waitedIn("r")} as was_waiting, ${areReportedAtClaim("journal.letters")} as was_reported
  from runs r join run_inputs i on i.run_id = r.id
    cross join lateral (select ${configOf("r", "i")} as config) as c
    cross join lateral (
      select coalesce(sum(case when e.data ? 'artifact_id' then (e.data ->> 'bytes')::float8
        else octet_length(e.data::text) end), 0) as bytes,
        ${journalLetters("e")} as letters
      from events e where e.run_id = r.id
    ) as journal
  where r.id = $1
), total as (
  select spent.*, prompt.* from spent left join prompt on true
)
select type, step, call_id, tool, calls, null::json as total, seq
from newest where bytes <= ${maxBytes}
union all
select 'total', null, null, null, null, to_json(total), 0 from total
order by seq`,
    values: [runId],
  });
  const total = rows.find((row) => row.total !== null)?.total;
  if (total === undefined || total === null) throw new Error("a digest has no total");
  const results = new Set(
    rows.flatMap(({ type, call_id }) =>
      type === "run.tool_result" && call_id !== null ? [call_id] : [],
    ),
  );
  const calls = rows.findLast(({ type }) => type === "run.step")?.calls ?? [];
  const { usage, cost_micros: costMicros } = spentOf(total);
  const digest: JournalDigest = {
    steps: total.steps,
    usage,
    costMicros,
    lastCalls: calls.map((callId) => ({ callId, hasResult: results.has(callId) })),
    open: rows.flatMap(({ type, step, call_id, tool }) =>
      type === "run.tool_call" && call_id !== null && !results.has(call_id)
        ? [{ step: step ?? 0, call_id, tool: tool ?? "" }]
        : [],
    ),
    wasReported: total.was_reported === true,
  };
  const { model, provider_id: providerId, bytes, was_waiting: wasWaiting } = total;
  const prompt = {
    model: model ?? "",
    providerId,
    bytes: bytes ?? 0,
    wasWaiting: wasWaiting === true,
  };
  return { digest, prompt };
}

/**
 * Returns an SQL expression that is true if a run waits for a limit, its provider or memory, or did
 * when its process was lost, and no attempt of its next model call has used tokens. It is false if
 * the run waited for a limit and the workspace no longer has limits.
 */
const waitedIn = (run: string) => `exists (
      select from reservations v where v.run_id = ${run}.id and v.workspace_id = ${run}.workspace_id
        and (${isWaitRecordSql} or v.state = 'waiting' and v.held_in = '{}'
          and exists (select from budgets b where b.workspace_id = v.workspace_id)))`;

/**
 * Returns whether a run waited for a limit, its provider or memory when its process was lost, and
 * no attempt of its next model call had used tokens. False if it waited for a limit and the
 * workspace no longer has limits.
 */
export async function readWasWaiting(database: Database, run: RunRef): Promise<boolean> {
  const { rows } = await database.engine.query<{ was_waiting: boolean }>({
    name: "read-was-waiting",
    text: `select ${waitedIn("r")} as was_waiting
      from (select $1::text as id, $2::text as workspace_id) as r`,
    values: [run.runId, run.workspaceId],
  });
  return rows[0]?.was_waiting === true;
}

/** Returns `JournalDigest.wasReported` of a run without reading the digest. */
export async function readWasReported(database: Database, run: RunRef): Promise<boolean> {
  const { rows } = await database.engine.query<{ was_reported: boolean | null }>({
    name: "read-was-reported",
    text: `select ${areReportedAtClaim(journalLetters("e"))} as was_reported
      from events e where e.run_id = $1 and e.workspace_id = $2`,
    values: [run.runId, run.workspaceId],
  });
  return rows[0]?.was_reported === true;
}
