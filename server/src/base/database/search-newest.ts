import { type RawBuilder, sql } from "kysely";
import type { WorkspaceTransaction } from "./in-workspace.ts";

/** Maximum number of rows that one search reads, however few of them match. */
export const maxSearched = 10_000;

/** The rows that a search found. */
export interface Searched<Row> {
  /** The newest matching rows, newest first. */
  readonly rows: readonly Row[];
  /**
   * The id below which the search continues; undefined if no rows are left to search. It can be set
   * although no rows were found. If `limit` rows were found, the search continues below the last
   * one.
   */
  readonly searchedTo: string | undefined;
}

/**
 * Finds the ids of the newest rows that match several filters, in a bounded time. No index has all
 * of the filters. So for one filter after the other, an index is scanned and the other filters are
 * checked for each row. The scan that gets furthest counts: a filter that few rows match ends the
 * search at once.
 * @param scope conditions that every scan can use with its index.
 * @param filters columns and their values. Each column needs an index that ends with the id.
 * @param limit maximum number of ids.
 */
export async function searchNewest(
  tx: WorkspaceTransaction,
  table: "audit" | "received_requests",
  {
    scope,
    filters,
    limit,
  }: {
    readonly scope: readonly RawBuilder<unknown>[];
    readonly filters: readonly (readonly [column: string, value: string])[];
    readonly limit: number;
  },
): Promise<Searched<string>> {
  const max = Math.ceil(maxSearched / filters.length);
  const conditions = filters.map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  let furthest: Searched<string> = { rows: [], searchedTo: undefined };
  for (const scanned of conditions) {
    const others = conditions.filter((condition) => condition !== scanned);
    const { rows } = await sql<{ ids: string[]; searched_to: string | null }>`
      with searched as materialized (
        select id, ${sql.join(others, sql` and `)} as is_match from ${sql.table(table)}
        where ${sql.join([...scope, scanned], sql` and `)} order by id desc limit ${max}
      )
      select array(select id from searched where is_match order by id desc limit ${limit}) as ids,
        (select case when count(*) = ${max} then min(id) end from searched) as searched_to
    `.execute(tx);
    const { ids = [], searched_to } = rows[0] ?? {};
    const found = { rows: ids, searchedTo: searched_to ?? undefined };
    if (found.searchedTo === undefined || ids.length === limit) return found;
    if (furthest.searchedTo === undefined || found.searchedTo < furthest.searchedTo)
      furthest = found;
  }
  return furthest;
}
