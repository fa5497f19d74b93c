import { Client } from "pg";
import { checkServer } from "./check-server.ts";
import { connectionSettings, rejectDroppedOptions } from "./connect.ts";
import { missingSchemaRight, pendingMigrations } from "./migrate.ts";

/** What `inspectServer` found out about a PostgreSQL server that Beckon can use. */
export interface InspectedServer {
  /** PostgreSQL's version, for example `17.2`. */
  readonly version: string;
  /** Milliseconds by which the server's clock is ahead of this process's; negative if behind. */
  readonly clockAheadMs: number;
  /** Number of migrations that the next startup applies. */
  readonly pendingMigrations: number;
  /** The check value of the master key; undefined if no startup has stored one yet. */
  readonly masterKeyCheck: string | undefined;
  /** Names of the plans that were created through the API. */
  readonly planNames: readonly string[];
}

const timeoutMs = 5_000;

/**
 * Makes the checks that startup makes before the migrations, and reads the values with which the
 * caller can make startup's later checks. Changes nothing in the database.
 * @throws the errors of `checkServer` and `migrate`; `explainStartFailure` explains them.
 */
export async function inspectServer(
  connectionString: string,
  options: { readonly trustStorage: boolean },
): Promise<InspectedServer> {
  const connection = { connectionString, connectionTimeoutMillis: timeoutMs };
  const role = await checkServer(connection, { ...options, isRehearsal: true });
  // With "*" the connection sees the rows of all workspaces. The role is not sent, because it may
  // not exist before startup.
  const settings = connectionSettings({ url: connectionString, role: undefined }, "*");
  const client = new Client({ ...settings, query_timeout: timeoutMs });
  client.on("error", () => {});
  await client.connect();
  try {
    await rejectDroppedOptions(client);
    const asked = Date.now();
    const { rows } = await client.query<{
      version: string;
      now_ms: string;
      user: string;
      is_read_only: boolean;
      can_create: boolean;
      has_migrations: boolean;
      has_installation: boolean;
      has_plans: boolean;
    }>(
      `select split_part(current_setting('server_version'), ' ', 1) as version,
              extract(epoch from clock_timestamp()) * 1000 as now_ms, current_user as user,
              -- Is also on if the server is a standby.
              current_setting('transaction_read_only')::boolean as is_read_only,
              -- The schema is null if the role can use none of its search path.
              coalesce(has_schema_privilege(current_schema(), 'create'), false) as can_create,
              to_regclass('migrations') is not null as has_migrations,
              to_regclass('installation') is not null as has_installation,
              to_regclass('plans') is not null as has_plans`,
    );
    // The server reads its clock about halfway between request and response.
    const halfwayMs = (asked + Date.now()) / 2;
    const [row] = rows;
    if (row === undefined) throw new Error("PostgreSQL returned no row.");
    // The first write of startup would get this error. It is thrown here too, so that
    // `explainStartFailure` explains both in the same way.
    if (row.is_read_only)
      throw Object.assign(new Error("cannot execute CREATE TABLE in a read-only transaction"), {
        code: "25006",
      });
    // If there is a `role`, the next startup creates the tables as that role, after granting it the
    // right to create them.
    if (!row.can_create && role === undefined) throw missingSchemaRight(row.user);
    const applied = row.has_migrations
      ? (await client.query<{ name: string }>("select name from migrations")).rows
      : [];
    const pending = await pendingMigrations(applied.map(({ name }) => name));
    const checks = row.has_installation
      ? (
          await client.query<{ value: string | null }>(
            "select master_key_check as value from installation",
          )
        ).rows
      : [];
    const plans = row.has_plans
      ? (await client.query<{ name: string }>("select name from plans")).rows
      : [];
    return {
      version: row.version,
      clockAheadMs: Math.round(Number(row.now_ms) - halfwayMs),
      pendingMigrations: pending.length,
      masterKeyCheck: checks[0]?.value ?? undefined,
      planNames: plans.map(({ name }) => name),
    };
  } finally {
    await client.end();
  }
}
