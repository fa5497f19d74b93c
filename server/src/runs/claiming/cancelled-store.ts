import type { Queryable } from "../../base/database/index.ts";

/**
 * Returns the ids of the running runs that the process `owner` owns and whose cancellation was
 * requested, at this process or another one.
 */
export async function cancelledRuns(connection: Queryable, owner: string): Promise<string[]> {
  const { rows } = await connection.query<{ id: string }>({
    name: "cancelled-runs",
    text: `select id from runs
      where status = 'running' and owner = $1 and cancel_requested_at is not null`,
    values: [owner],
  });
  return rows.map((row) => row.id);
}
