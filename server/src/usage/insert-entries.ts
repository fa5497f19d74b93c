/**
 * Returns SQL that inserts entries of the usage ledger. No other code inserts into `usage_entries`.
 *
 * The insert reads `calls` directly. A common table expression would copy its many columns, which
 * would take longer than the rest of this SQL.
 *
 * @param runs name of a common table expression with one row for each run that made calls, and the
 *   columns position, run_id, workspace_id, agent_id, attempt, day, source, principal, trigger_id,
 *   tags. `day` is the workspace's local date.
 * @param calls table with the alias c, one row for each metered call, and the columns write (the
 *   run's position), seq, number, step, outcome, kind, provider, model, input_tokens,
 *   output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms,
 *   cost_micros, standard_cost_micros, price_origin, estimated. `number` counts from 1 within the
 *   event `seq`.
 * @param options `returnsAmounts`: whether other parts of the statement read `written_entries`.
 *   Default false.
 * @returns the common table expression `written_entries`, to put after `runs`. If `returnsAmounts`
 *   is true, it has the amounts of the new entries and the columns that determine their scopes.
 */
export function insertEntries(
  runs: string,
  calls: string,
  { returnsAmounts = false }: { readonly returnsAmounts?: boolean } = {},
): string {
  return `written_entries as (
  insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
    trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros,
    standard_cost_micros, price_origin, estimated, transaction)
  select r.run_id, c.seq, c.number, r.workspace_id, r.day, r.agent_id, r.source, r.principal,
    r.trigger_id, r.tags, c.step, r.attempt, c.outcome, c.kind, c.provider, c.model,
    c.input_tokens, c.output_tokens, c.cached_input_tokens, c.cache_write_tokens,
    c.reasoning_tokens, c.voice_ms, c.browser_ms, c.cost_micros, c.standard_cost_micros,
    c.price_origin, c.estimated,
    -- In a subquery, the function is evaluated once and not for each row.
    (select current_transaction())
  from ${calls} join ${runs} r on r.position = c.write${
    returnsAmounts
      ? `
  returning workspace_id, agent_id, principal, trigger_id, input_tokens, output_tokens, voice_ms,
    browser_ms, cost_micros, standard_cost_micros`
      : ""
  }
)`;
}
