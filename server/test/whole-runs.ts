import type { Database } from "../src/base/database/index.ts";
import { newId } from "../src/base/ids.ts";
import { addRun, type GivenRun } from "./add-run.ts";

const tablesOfRuns = {
  runs: "id",
  run_inputs: "run_id",
  run_results: "run_id",
  run_drafts: "run_id",
  run_callbacks: "run_id",
  events: "run_id",
  artifacts: "run_id",
};

/** The result of `tablesWith` if exactly these runs exist, with all their rows. */
export const whole = (runIds: readonly string[]) =>
  Object.fromEntries(Object.keys(tablesOfRuns).map((table) => [table, [...runIds].sort()]));

/** Returns functions that add runs with rows in all these tables, and find these rows. */
export function wholeRuns(database: Database) {
  /** Adds a run with a row in each table that has rows of runs. */
  async function addWholeRun(
    owner: { readonly workspaceId: string; readonly agentId: string },
    given: GivenRun,
  ): Promise<string> {
    const id = await addRun(database, owner, given);
    const { workspaceId } = owner;
    const values = [id, workspaceId];
    await database.engine.query(
      `with drafts as (insert into run_drafts (run_id, workspace_id, config) values ($1, $2, '{}')),
      callbacks as (insert into run_callbacks (run_id, workspace_id, subscription_id, url)
        values ($1, $2, 'sub_1', 'https://example.com')),
      journal as (insert into events (run_id, seq, workspace_id, id, type, version, data)
        select $1, n, $2, 'evt_' || $1 || n, 'run.step', 1, '{}' from generate_series(1, 3) n)
      insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
        step, attempt, outcome, kind, provider, model, estimated)
        values ($1, 1, 1, $2, current_date, 'agt', 'invoke', 'token:x', 1, 1, 'answered', 'model',
          'demo', 'echo', false)`,
      values,
    );
    await database.engine.query(
      "insert into artifacts (id, workspace_id, run_id, media_type, content) values ($1, $2, $3, 'text/plain', 'x')",
      [newId("art"), workspaceId, id],
    );
    return id;
  }

  /** Returns, for each table, which of the runs have rows in it. */
  async function tablesWith(runIds: readonly string[]): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    for (const [table, column] of Object.entries(tablesOfRuns)) {
      const { rows } = await database.engine.query(
        `select distinct ${column} as id from ${table} where ${column} = any ($1) order by 1`,
        [runIds],
      );
      found[table] = rows.map((row) => row.id);
    }
    return found;
  }

  return { addWholeRun, tablesWith };
}
