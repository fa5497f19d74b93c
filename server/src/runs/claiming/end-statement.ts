import {
  type Database,
  type Parameters,
  type Statement,
  statement,
} from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import { endUnexecuted, type UnexecutedEnd } from "../journal/index.ts";

/** Maximum number of queued or held runs that one statement changes. */
export const maxRuns = 500;

/** The parameters of a statement: the ids of the events that it can write, `maxRuns` of them. */
export interface EventIds {
  readonly eventIds: readonly string[];
}

/**
 * Creates a statement that ends queued or held runs, at most as many as there are event ids.
 * @param pick returns the SQL of a query for id and workspace_id of the runs, which locks them.
 */
export const endStatement = (
  name: string,
  end: UnexecutedEnd,
  pick: (p: Parameters<EventIds>) => string,
): Statement<EventIds> =>
  statement<EventIds>(name, (p) => {
    const eventIds = p.value("text[]", (input) => input.eventIds);
    return `
with picked as (
  ${pick(p)}
), ending as (
  select id, workspace_id, (${eventIds})[row_number() over (order by id)] as event_id from picked
), ${endUnexecuted(p, { source: "ending", end: () => end })}
select count(*)::int as ended from ended`;
  });

/**
 * Executes a statement, each time with new event ids, until few runs are left or `signal` aborts.
 * @param column the column in which the statement returns how many runs it has changed.
 * @param options `minRuns`: the statement is repeated if it has changed at least this many runs.
 *   Default `maxRuns`.
 * @returns how many runs were changed.
 */
export async function changeInBatches<Column extends string>(
  database: Database,
  one: Statement<EventIds>,
  column: Column,
  {
    minRuns = maxRuns,
    signal,
  }: { readonly minRuns?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<number> {
  for (let changed = 0; ; ) {
    const eventIds = Array.from({ length: maxRuns }, () => newId("evt"));
    const { rows } = await database.engine.query<Record<Column, number>>(one.query({ eventIds }));
    const batch = rows[0]?.[column] ?? 0;
    changed += batch;
    if (batch < minRuns || signal?.aborted === true) return changed;
  }
}
