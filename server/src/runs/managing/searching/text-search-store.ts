import { type RawBuilder, sql } from "kysely";
import { elapsed } from "../../../base/clock.ts";
import type { WorkspaceTransaction } from "../../../base/database/index.ts";
import { type Found, maxScanned, type Search, searchRuns } from "./search-store.ts";

/** Maximum number of runs whose texts one search reads, however few of them match. */
export const maxTexts = 2_000;
/** Time after which a search reads no further texts. */
const maxSearchMs = 1_000;
/**
 * Number of runs whose texts one statement reads. A search can exceed its time limit by the
 * duration of one statement.
 */
const textsPerStatement = 100;
/** Maximum length of the part of each input and each output that is searched, in characters. */
const maxLength = 64 * 1024;

/**
 * Finds the newest runs that match `search` and have `text` in the beginning of their input or
 * output, regardless of case. Texts have no index, so this reads the texts of the runs that match
 * the other conditions. It stops after 2,000 runs or after `maxMs` milliseconds. It reads the texts
 * of the first 100 runs even if that takes longer, so that each page makes progress.
 */
export async function searchTexts(
  tx: WorkspaceTransaction,
  workspaceId: string,
  search: Search,
  { text, maxMs = maxSearchMs }: { text: string; maxMs?: number },
): Promise<Found> {
  const startedAt = elapsed();
  // `searchRuns`, which finds the runs whose texts are read, reads up to `limit + 1` runs of each
  // agent. With many agents the limit is lowered, so that the total stays near `maxScanned`.
  const perAgent = Math.ceil(maxScanned / (search.agentIds?.length ?? 1));
  const limit = Math.min(maxTexts, Math.max(search.limit, perAgent));
  const { runIds, nextBelow } = await searchRuns(tx, workspaceId, { ...search, limit });
  const found: string[] = [];
  for (let from = 0; from < runIds.length; from += textsPerStatement) {
    if (from > 0 && elapsed() - startedAt > maxMs)
      return { runIds: found, nextBelow: runIds[from - 1] };
    const part = runIds.slice(from, from + textsPerStatement);
    const matching = await runsWithText(tx, workspaceId, part, text);
    for (const runId of part.filter((each) => matching.has(each))) {
      found.push(runId);
      if (found.length === search.limit)
        return { runIds: found, nextBelow: runId === runIds.at(-1) ? nextBelow : runId };
    }
  }
  return { runIds: found, nextBelow };
}

async function runsWithText(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runIds: readonly string[],
  text: string,
): Promise<ReadonlySet<string>> {
  const beginning = (of: RawBuilder<unknown>) => sql`left(${of}, ${sql.lit(maxLength)})`;
  const input = beginning(
    sql`run_input(${beginning(sql`i.prompt_prefix`)}, ${beginning(sql`i.payload`)})`,
  );
  // `strpos` is used instead of a pattern, since it gives no character a special meaning.
  const has = (value: RawBuilder<unknown>) => sql`strpos(lower(${value}), lower(${text})) > 0`;
  const { rows } = await sql<{ run_id: string }>`
    select i.run_id from unnest(${runIds}::text[]) as r (id)
    join lateral (
      select * from run_inputs i where i.run_id = r.id and i.workspace_id = ${workspaceId} limit 1
    ) as i on true
    left join lateral (select e.output from run_results e where e.run_id = r.id limit 1) as e on true
    where ${has(input)} or ${has(beginning(sql`e.output`))}`.execute(tx);
  return new Set(rows.map((row) => row.run_id));
}
