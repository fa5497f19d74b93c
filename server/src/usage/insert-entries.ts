/**
 * Returns SQL that inserts entries of the usage ledger. No other code inserts into their table.
 * Whatever the process does not know is read in the same statement: who started the run, and the
 * workspace's local date.
 *
 * @param source name of a common table expression with one row for each metered call, and the
 *   columns run_id, seq, number, workspace_id, agent_id, attempt, step, outcome, kind, provider,
 *   model, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens,
 *   voice_ms, browser_ms, cost_micros, standard_cost_micros, price_origin, estimated. `number`
 *   counts from 1 within the event `seq`.
 * @returns common table expressions to put after `source`.
 */
export function insertEntries(source: string): string {
  return `callers as materialized (
  select i.run_id, i.workspace_id, i.source, i.principal, i.trigger_id, i.tags from run_inputs i
  -- Without this condition, PostgreSQL may read the whole table.
  where i.run_id = any (array(select run_id from ${source}))
), local_days as materialized (
  select w.id, (now() at time zone w.time_zone)::date as day from workspaces w
  where w.id = any (array(select workspace_id from ${source}))
), written_entries as (
  insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
    trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros,
    standard_cost_micros, price_origin, estimated, transaction)
  select c.run_id, c.seq, c.number, c.workspace_id, d.day, c.agent_id, i.source, i.principal,
    i.trigger_id, i.tags, c.step, c.attempt, c.outcome, c.kind, c.provider, c.model,
    c.input_tokens, c.output_tokens, c.cached_input_tokens, c.cache_write_tokens,
    c.reasoning_tokens, c.voice_ms, c.browser_ms, c.cost_micros, c.standard_cost_micros,
    c.price_origin, c.estimated,
    -- As a subquery, it is evaluated once and not for each row.
    (select current_transaction())
  from ${source} c
    join callers i on i.run_id = c.run_id and i.workspace_id = c.workspace_id
    join local_days d on d.id = c.workspace_id
)`;
}
