import type { Queryable } from "../base/database/index.ts";

/**
 * Returns whether this is a database of Beckon, that is, whether it contains the table
 * `installation`.
 */
export async function isInstallation(client: Queryable): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    "select to_regclass('installation') is not null as found",
  );
  return rows[0]?.found === true;
}

/**
 * Returns how many connections Beckon has to the database, not counting the connection of `client`.
 * After a restore, the leases in the database do not show whether Beckon is running, because they
 * are from the time of the backup.
 */
export async function countClients(client: Queryable): Promise<number> {
  const { rows } = await client.query<{ clients: number }>(
    `select count(*)::int as clients from pg_stat_activity
      where datname = current_database() and application_name = 'beckon'
        and pid <> pg_backend_pid()`,
  );
  return rows[0]?.clients ?? 0;
}
