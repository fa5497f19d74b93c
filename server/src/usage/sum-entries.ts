/**
 * The columns of a ledger entry with numbers of tokens. The order matters, because `spentData` of
 * end-runs.ts takes the first three by their position.
 */
export const tokenColumns = [
  "input_tokens",
  "output_tokens",
  "cached_input_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
] as const;

/** The columns of a ledger entry with counts. `usage_days` has sums with the same names. */
export const countColumns = [...tokenColumns, "voice_ms", "browser_ms"] as const;

/**
 * Returns a query for the sums of a run's entries in the usage ledger: `tokenColumns`,
 * `cost_micros`, which is null if the cost of an entry is unknown, and `is_estimated`, which is
 * whether the usage of any entry is an estimate. It always returns one row.
 * @param run name of a table with the columns id and workspace_id of the run.
 */
export function sumEntries(run: string): string {
  const sums = tokenColumns.map((name) => `coalesce(sum(${name}), 0)::bigint as ${name}`);
  return `
    select ${sums.join(", ")},
      case when count(cost_micros) = count(*) then coalesce(sum(cost_micros), 0)::bigint end
        as cost_micros,
      coalesce(bool_or(estimated), false) as is_estimated
    from usage_entries where run_id = ${run}.id and workspace_id = ${run}.workspace_id
  `;
}
