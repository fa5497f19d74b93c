import type { Database } from "../src/base/database/index.ts";
import { newId } from "../src/base/ids.ts";

/** An entry of the usage ledger; what is not given has a default. */
export interface GivenEntry {
  /** Default: now. */
  readonly time?: Date | string;
  /** Default: the date of `time` in the workspace's time zone. */
  readonly day?: string;
  readonly run_id?: string;
  readonly seq?: number;
  readonly number?: number;
  readonly principal?: string;
  readonly trigger_id?: string | null;
  readonly tags?: readonly string[] | null;
  readonly outcome?: "answered" | "failed" | "lost";
  readonly kind?: "model" | "voice" | "browser";
  readonly provider?: string;
  readonly model?: string;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cached_input_tokens?: number;
  readonly cache_write_tokens?: number;
  readonly reasoning_tokens?: number;
  readonly voice_ms?: number;
  readonly browser_ms?: number;
  /** Default: 0. Null: unknown. */
  readonly cost_micros?: number | null;
  /** Default: unknown. */
  readonly standard_cost_micros?: number;
  readonly estimated?: boolean;
  /** Id of the transaction that wrote the entry. Default: the transaction that inserts it. */
  readonly transaction?: number;
}

/**
 * Inserts entries of an agent into the usage ledger, without the runs and events that entries have
 * when a server writes them. Without `entries`, inserts one entry with all defaults.
 */
export async function addUsage(
  database: Database,
  { workspaceId, agentId }: { readonly workspaceId: string; readonly agentId: string },
  ...entries: readonly GivenEntry[]
): Promise<void> {
  const rows = (entries.length === 0 ? [{}] : entries).map((entry) => ({
    run_id: newId("run"),
    ...entry,
  }));
  await database.engine.query(
    `insert into usage_entries (run_id, seq, number, workspace_id, time, day, agent_id, source,
        principal, trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens,
        output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms,
        browser_ms, cost_micros, standard_cost_micros, price_origin, estimated, transaction)
      select e.run_id, coalesce(e.seq, 2), coalesce(e.number, 1), w.id, t.time,
        coalesce(e.day, (t.time at time zone w.time_zone)::date), $2, 'invoke',
        coalesce(e.principal, 'token:' || $2), e.trigger_id, e.tags, 1, 1,
        coalesce(e.outcome, 'answered'), coalesce(e.kind, 'model'), coalesce(e.provider, 'demo'),
        coalesce(e.model, 'echo'), coalesce(e.input_tokens, 0), coalesce(e.output_tokens, 0),
        coalesce(e.cached_input_tokens, 0), coalesce(e.cache_write_tokens, 0),
        coalesce(e.reasoning_tokens, 0), coalesce(e.voice_ms, 0), coalesce(e.browser_ms, 0),
        case when e.is_unknown then null else coalesce(e.cost_micros, 0) end,
        e.standard_cost_micros, null,
        coalesce(e.estimated, false), coalesce(e.transaction, current_transaction())
      from workspaces w, jsonb_to_recordset($3) as e (run_id text, seq int, number int,
        time timestamptz, day date, principal text, trigger_id text, tags text[], outcome text,
        kind text, provider text, model text, input_tokens bigint, output_tokens bigint,
        cached_input_tokens bigint, cache_write_tokens bigint, reasoning_tokens bigint,
        voice_ms bigint, browser_ms bigint, cost_micros bigint, is_unknown boolean,
        standard_cost_micros bigint, estimated boolean, transaction bigint),
        lateral (select coalesce(e.time, now()) as time) as t
      where w.id = $1`,
    [
      workspaceId,
      agentId,
      JSON.stringify(rows.map((row) => ({ ...row, is_unknown: row.cost_micros === null }))),
    ],
  );
}

/**
 * Sums up by day the entries whose transaction id is below `upTo`. Unlike the server's `rollUp`, it
 * does not check that the transactions that wrote them have ended. Writes up to `parts` rows where
 * `rollUp` writes one. Must not run at the same time as `rollUp`.
 */
export async function sumUpTo(
  database: Database,
  workspaceId: string,
  upTo: number,
  parts = 1,
): Promise<void> {
  await database.engine.query(
    `with summed as (
      insert into usage_days (workspace_id, day, agent_id, provider, model, principal, trigger_id,
        kind, entries, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens,
        reasoning_tokens, voice_ms, browser_ms, cost_micros, unknown_cost_entries,
        standard_cost_micros, unknown_standard_cost_entries, estimated_entries)
      select workspace_id, day, agent_id, provider, model, principal, trigger_id, kind, count(*),
        sum(input_tokens), sum(output_tokens), sum(cached_input_tokens), sum(cache_write_tokens),
        sum(reasoning_tokens), sum(voice_ms), sum(browser_ms), coalesce(sum(cost_micros), 0),
        count(*) filter (where cost_micros is null), coalesce(sum(standard_cost_micros), 0),
        count(*) filter (where standard_cost_micros is null), count(*) filter (where estimated)
      from usage_entries e
      where workspace_id = $1 and transaction < $2 and transaction >= coalesce(
        (select up_to from usage_rollups where workspace_id = $1), -9223372036854775808)
      group by workspace_id, day, agent_id, provider, model, principal, trigger_id, kind,
        transaction % $3
    )
    insert into usage_rollups (workspace_id, up_to, merged_before) values ($1, $2, '2000-01-01')
    on conflict (workspace_id) do update set up_to = $2`,
    [workspaceId, upTo, parts],
  );
}
