import type { Pool } from "pg";
import { lowestIdAt } from "../../../src/base/ids.ts";

/** Runs that are created in the same millisecond. */
const runsPerMillisecond = 1_000;

/** The tables with the rows of a run, and their column with its id. */
export const tablesOfRuns = {
  runs: "id",
  run_inputs: "run_id",
  run_results: "run_id",
  events: "run_id",
} as const;

/**
 * Inserts finished runs as copies of one run, with its input, result and events. Their times are
 * spread from `from` to `to`, and their ids are in the same order. The usage ledger gets no
 * entries, because pruning does not read it.
 *
 * @param count a multiple of `runsPerMillisecond`.
 */
export async function storeOldRuns(
  engine: Pool,
  runId: string,
  { count, from, to }: { count: number; from: Date; to: Date },
): Promise<void> {
  const stepMs = (to.getTime() - from.getTime()) / (count / runsPerMillisecond);
  const times = Array.from(
    { length: count / runsPerMillisecond },
    (_, index) => new Date(from.getTime() + Math.floor(index * stepMs)),
  );
  const client = await engine.connect();
  try {
    await client.query("create temporary table copies (id text, number bigint, time timestamptz)");
    await client.query(
      `insert into copies
        select p.prefix || lpad(to_hex(n), 16, '0'), p.position * $3 + n, p.time
        from unnest($1::text[], $2::timestamptz[]) with ordinality as p (prefix, time, position),
          generate_series(1, $3::int) as n`,
      [times.map((time) => lowestIdAt("run", time).slice(0, 14)), times, runsPerMillisecond],
    );
    for (const [table, idColumn] of Object.entries(tablesOfRuns)) {
      const { rows } = await client.query<{ name: string }>(
        `select column_name as name from information_schema.columns
          where table_schema = 'public' and table_name = $1 order by ordinal_position`,
        [table],
      );
      const columns = rows.map(({ name }) => name);
      const values = columns.map((name) => {
        if (name === idColumn) return "c.id";
        if (name === "id") return `'evt_' || substr(c.id, 5, 20) || substr(o.id, 25)`;
        // Events are ordered by transaction id. Each copied run gets its own transaction id, which
        // is lower than all that PostgreSQL assigns, so old runs come first.
        if (name === "transaction" || name === "last_transaction") return `c.number - ${2 * count}`;
        if (["time", "created_at", "started_at", "finished_at"].includes(name)) return "c.time";
        return `o.${name}`;
      });
      await client.query(
        `insert into ${table} (${columns.join(", ")})
          select ${values.join(", ")} from copies c, ${table} o
          where o.${idColumn} = $1 order by c.number`,
        [runId],
      );
    }
    await client.query("drop table copies");
    await client.query(`vacuum (analyze) ${Object.keys(tablesOfRuns).join(", ")}`);
  } finally {
    client.release();
  }
}
