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
  return `written_entries as (
  insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
    trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros,
    standard_cost_micros, price_origin, estimated)
  select c.run_id, c.seq, c.number, c.workspace_id, (now() at time zone w.time_zone)::date,
    c.agent_id, i.source, i.principal, i.trigger_id, i.tags, c.step, c.attempt, c.outcome, c.kind,
    c.provider, c.model, c.input_tokens, c.output_tokens, c.cached_input_tokens,
    c.cache_write_tokens, c.reasoning_tokens, c.voice_ms, c.browser_ms, c.cost_micros,
    c.standard_cost_micros, c.price_origin, c.estimated
  from ${source} c join run_inputs i on i.run_id = c.run_id and i.workspace_id = c.workspace_id
    join workspaces w on w.id = c.workspace_id
)`;
}
