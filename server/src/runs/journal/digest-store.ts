import type { TokenUsage } from "@beckon/contract";
import type { Database } from "../../base/database/index.ts";
import type { JournalDigest, Prompt } from "../../engine/index.ts";
import { configOf } from "./config-statement.ts";

/**
 * Maximum size of the entries in a digest, in bytes. The newest entries are kept. Older ones that
 * do not fit are left out, but the row `total` still counts their steps.
 */
const maxBytes = 1024 * 1024;

interface Row {
  readonly type: "run.step" | "run.step_lost" | "run.tool_call" | "run.tool_result" | "total";
  readonly step: number | null;
  readonly call_id: string | null;
  readonly tool: string | null;
  readonly usage: TokenUsage | null;
  readonly calls: readonly string[] | null;
  /** The number of steps with a response. Set only in the row `total`. */
  readonly steps: number | null;
  /** The name of the agent's model. Set only in the row `total`. */
  readonly model: string | null;
  /** The number of characters of the prompt and the whole journal. Set only in the row `total`. */
  readonly characters: number | null;
}

/**
 * Reads a summary of a run's journal, the digest, from which the engine decides how the run ends.
 * The digest has a bounded size, since it contains no payloads. It contains the tool calls of the
 * last step only: all calls of earlier steps have results, because otherwise the model would not
 * have been called again.
 */
export async function readDigest(
  database: Database,
  runId: string,
): Promise<{ readonly digest: JournalDigest; readonly prompt: Prompt }> {
  const { rows } = await database.engine.query<Row>({
    name: "read-digest",
    text: `
with last_step as (
  select coalesce(max(seq), 0) as seq from events where run_id = $1 and type = 'run.step'
), chosen as (
  select e.seq, e.type,
    case when e.data ? 'artifact_id' then (
      select convert_from(f.content, 'UTF8')::jsonb from artifacts f
      where f.id = e.data ->> 'artifact_id' and f.run_id = e.run_id
    ) else e.data end as data, e.seq = l.seq as is_last
  from events e, last_step l
  where e.run_id = $1
    and (e.type in ('run.step', 'run.step_lost')
      or (e.type in ('run.tool_call', 'run.tool_result') and e.seq > l.seq))
), facts as (
  select seq, type, (data ->> 'step')::int as step, data ->> 'call_id' as call_id,
    case when type = 'run.tool_call' then data ->> 'tool' end as tool, data -> 'usage' as usage,
    case when is_last then
      jsonb_path_query_array(data, '$.parts[*] ? (@.type == "tool_call").call_id') end as calls
  from chosen
), newest as (
  select *, sum(octet_length(facts::text)) over (order by seq desc) as bytes from facts
), prompt as (
  select c.config ->> 'model' as model,
    length(run_input(i.prompt_prefix, i.payload))
      + coalesce(length(c.config ->> 'instructions'), 0) as characters
  from runs r join run_inputs i on i.run_id = r.id
    cross join lateral (select ${configOf("r", "i")} as config) as c
  where r.id = $1
)
select type, step, call_id, tool, usage, calls, null::int as steps, null as model,
  null::float8 as characters, seq
from newest where bytes <= ${maxBytes}
union all
select 'total', null, null, null, null, null, (count(*) filter (where type = 'run.step'))::int,
  (select model from prompt),
  (select characters from prompt) + sum(
    case when data ? 'artifact_id' then (data ->> 'bytes')::float8 else length(data::text) end), 0
from events where run_id = $1
order by seq`,
    values: [runId],
  });
  const total = rows.find(({ type }) => type === "total");
  const results = new Set(
    rows.flatMap(({ type, call_id }) =>
      type === "run.tool_result" && call_id !== null ? [call_id] : [],
    ),
  );
  const calls = rows.findLast(({ type }) => type === "run.step")?.calls ?? [];
  const digest: JournalDigest = {
    steps: total?.steps ?? 0,
    usage: rows.flatMap(({ usage }) => (usage === null ? [] : [usage])),
    lastCalls: calls.map((callId) => ({ callId, hasResult: results.has(callId) })),
    open: rows.flatMap(({ type, step, call_id, tool }) =>
      type === "run.tool_call" && call_id !== null && !results.has(call_id)
        ? [{ step: step ?? 0, call_id, tool: tool ?? "" }]
        : [],
    ),
  };
  return { digest, prompt: { model: total?.model ?? "", characters: total?.characters ?? 0 } };
}
