import type { Database } from "../../base/database/index.ts";

/**
 * Returns whether a living process other than `ownId` executes one of the runs, or claims runs from
 * the queue. If not, the runs will not end soon.
 */
export async function areExecutedElsewhere(
  database: Pick<Database, "engine">,
  ownId: string,
  runIds: readonly string[],
): Promise<boolean> {
  const { rows } = await database.engine.query<{ executed: boolean }>({
    name: "are-executed-elsewhere",
    text: `select exists (
        select from processes p where p.died_at is null and p.id <> $1 and (p.accepts_runs
          or exists (select from runs r
            where r.id = any ($2) and r.status = 'running' and r.owner = p.id))
      ) as executed`,
    values: [ownId, runIds],
  });
  return rows[0]?.executed === true;
}
