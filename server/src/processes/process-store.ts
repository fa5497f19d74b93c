import type { Database } from "../base/database/index.ts";
import { engineVersion } from "../base/engine-version.ts";

/** Anything that runs a query: a pool, or the lease's own connection. */
type Queryable = Pick<Database["engine"], "query">;

/** Puts a process on record, alive for `leaseSeconds`. */
export async function registerProcess(
  connection: Queryable,
  id: string,
  leaseSeconds: number,
): Promise<void> {
  await connection.query(
    "insert into processes (id, engine_version, lease_until) values ($1, $2, now() + make_interval(secs => $3)) on conflict (id) do nothing",
    [id, engineVersion, leaseSeconds],
  );
}

/** `alive`: how many processes live, this one among them. Undefined: this one was declared dead and must drop its runs. */
export async function renewLease(
  connection: Queryable,
  id: string,
  leaseSeconds: number,
): Promise<{ alive: number } | undefined> {
  const { rows } = await connection.query<{ alive: number }>(
    `update processes set lease_until = now() + make_interval(secs => $2) where id = $1 and died_at is null
      returning (select count(*)::int from processes where died_at is null) as alive`,
    [id, leaseSeconds],
  );
  return rows[0];
}

/**
 * Declares dead whoever has let its lease lapse. The caller's own must be valid, by the same clock; and a process that renews at the same
 * moment lives, since both change its row.
 */
export async function recordLapsed(connection: Queryable, by: string): Promise<string[]> {
  const { rows } = await connection.query<{ id: string }>(
    `update processes p set died_at = now() where p.died_at is null and p.lease_until < now() and p.id <> $1
        and exists (select from processes me where me.id = $1 and me.died_at is null and me.lease_until > now())
      returning p.id`,
    [by],
  );
  return rows.map((row) => row.id);
}

/** Forgets processes that died a day ago and own nothing any more. */
export async function forgetDead(connection: Queryable): Promise<void> {
  await connection.query(
    `delete from processes p where p.died_at < now() - interval '1 day'
      and not exists (select from runs r where r.status = 'running' and r.owner = p.id)`,
  );
}

/** Records the death of processes that are known to be gone, or of all but `survivor`. */
export async function recordDeaths(
  connection: Queryable,
  dead: readonly string[] | "all",
  survivor: string,
): Promise<void> {
  await connection.query(
    "update processes set died_at = now() where died_at is null and id <> $1 and ($2::text[] is null or id = any ($2))",
    [survivor, dead === "all" ? null : dead],
  );
}
