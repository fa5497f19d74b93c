import { readdir, readFile } from "node:fs/promises";
import { Client, type ClientConfig, DatabaseError } from "pg";
import { elapsed, pause, sleep } from "../clock.ts";
import { ConfigError } from "../errors.ts";
import type { Log } from "../log.ts";
import { rejectDroppedOptions } from "./connect.ts";
import { MissingRightError } from "./start-failure.ts";

const folder = new URL("./migrations/", import.meta.url);

/**
 * Key of the advisory lock: an arbitrary number. It must be the same in every version, because
 * otherwise processes of two versions could migrate at the same time.
 */
const lockKey = 4_217_690_113n;

/**
 * The connection has no query timeout, so TCP must detect that the other machine is gone. If it was
 * that of a migrating process, PostgreSQL then releases the lock.
 */
const tcpLimits = [
  "-c tcp_keepalives_idle=30",
  "-c tcp_keepalives_interval=10",
  "-c tcp_keepalives_count=3",
  "-c tcp_user_timeout=60000",
];
const keepAliveInitialDelayMillis = 30_000;

/** A connection that sees all workspaces, and what `migrate` logs. */
export interface MigrateOptions extends ClientConfig {
  /** Log for the wait for another process, and for the migrations of an upgrade. Default: none. */
  readonly noticeLog?: Log;
  /**
   * Milliseconds after which the wait, or a migration of an upgrade, is logged, then once a minute.
   * Default 10,000.
   */
  readonly noticeAfterMs?: number;
}

/**
 * Applies all pending migrations, then runs `then` on the same connection. Both are done under an
 * advisory lock, so if several processes start together, one migrates and the others wait. Each
 * migration and its record are one transaction, so the next startup can continue after a process
 * was killed.
 * @throws ConfigError if the database was migrated by a newer Beckon, or a pooler dropped the
 *   connection's `options`.
 * @throws MissingRightError if the role is not allowed to create tables.
 */
export async function migrate<T>(
  { noticeLog, noticeAfterMs = 10_000, ...connection }: MigrateOptions,
  then: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    ...connection,
    query_timeout: 0,
    keepAlive: true,
    keepAliveInitialDelayMillis,
    options: [connection.options, ...tcpLimits].join(" "),
  });
  client.on("error", () => {});
  await client.connect();
  try {
    await rejectDroppedOptions(client);
    // Both timeouts, `query_timeout` above and `statement_timeout` here, are turned off, because
    // migrating a large table can take longer. So is that of transactions, which the operator can
    // have set. Versions before 17 do not have it.
    await client.query("set statement_timeout = 0");
    await client.query("set transaction_timeout = 0").catch(() => {});
    // Otherwise PostgreSQL notices only at the end of a statement, such as a long migration, that
    // this process is gone, and keeps the lock until then. It rejects this setting on some
    // platforms, and then continues without it.
    await client.query("set client_connection_check_interval = '10s'").catch(() => {});
    await takeLock(client, { noticeLog, noticeAfterMs });
    await createMigrationsTable(client);
    const { rows } = await client.query<{ name: string }>("select name from migrations");
    const isUpgrade = rows.length > 0;
    for (const file of await pendingMigrations(rows.map(({ name }) => name))) {
      const text = await readFile(new URL(file, folder), "utf8");
      await client.query("begin");
      await client.query("insert into migrations (name) values ($1)", [file]);
      const apply = async () => {
        await client.query(text);
        await client.query("commit");
      };
      if (isUpgrade && noticeLog !== undefined)
        await withNotices(client, connection, { name: file, noticeLog, noticeAfterMs }, apply);
      else await apply();
      // Written for each migration, because the process can be killed before the next one.
      if (isUpgrade) noticeLog?.write("a migration was applied", { name: file });
    }
    return await then(client);
  } finally {
    await client.end();
  }
}

/** Maximum time between two attempts to take the lock. */
const maxPauseMs = 1_000;
const noticeIntervalMs = 60_000;

/**
 * Takes the advisory lock, which the end of the connection releases. Does not use
 * `pg_advisory_lock`, during which this process could not log that it waits, and whose session
 * would stay in the queue after this process was killed.
 */
async function takeLock(
  client: Client,
  { noticeLog, noticeAfterMs }: { noticeLog: Log | undefined; noticeAfterMs: number },
): Promise<void> {
  const begunAt = elapsed();
  let nextNoticeMs = noticeAfterMs;
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(
      "select pg_try_advisory_lock($1) as locked",
      [lockKey],
    );
    if (rows[0]?.locked === true) return;
    const waitedMs = elapsed() - begunAt;
    if (waitedMs >= nextNoticeMs) {
      nextNoticeMs = waitedMs + noticeIntervalMs;
      noticeLog?.write("waiting for another process, which migrates the database", {
        duration_ms: Math.round(waitedMs),
      });
    }
    // Short at first: a process that has nothing to migrate holds the lock for milliseconds.
    await sleep(Math.min(maxPauseMs, 20 + waitedMs / 4));
  }
}

/**
 * Executes a migration. While it takes long, logs that it is running, and which PostgreSQL
 * processes hold a lock that it waits for. Another connection finds these.
 */
async function withNotices(
  client: Client,
  connection: ClientConfig,
  { name, noticeLog, noticeAfterMs }: { name: string; noticeLog: Log; noticeAfterMs: number },
  migration: () => Promise<void>,
): Promise<void> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const ended = new AbortController();
  const begunAt = elapsed();
  const notify = async () => {
    for (let waitMs = noticeAfterMs; ; waitMs = noticeIntervalMs) {
      await pause(waitMs, ended.signal);
      if (ended.signal.aborted) return;
      const blockers = await findBlockers(connection, rows[0]?.pid);
      if (ended.signal.aborted) return;
      noticeLog.write("a migration is still running", {
        name,
        duration_ms: Math.round(elapsed() - begunAt),
        blocked_by: blockers,
      });
    }
  };
  const notices = notify();
  try {
    await migration();
  } finally {
    ended.abort();
    await notices;
  }
}

/**
 * Returns the pids of the PostgreSQL processes that hold a lock for which process `pid` waits; none
 * if they cannot be read.
 */
async function findBlockers(
  connection: ClientConfig,
  pid: number | undefined,
): Promise<readonly string[]> {
  const client = new Client(connection);
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pids: string[] }>(
      "select pg_blocking_pids($1)::text[] as pids",
      [pid],
    );
    return rows[0]?.pids ?? [];
  } catch {
    return [];
  } finally {
    await client.end();
  }
}

/**
 * Returns the migrations that are pending, in their order.
 * @param applied names of the migrations that the database has.
 * @throws ConfigError if the database was migrated by a newer Beckon.
 */
export async function pendingMigrations(applied: readonly string[]): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  const unknown = applied.filter((name) => !files.includes(name));
  if (unknown.length > 0) {
    throw new ConfigError(
      `The database was written by a newer Beckon (it has ${unknown.join(", ")}). Start ` +
        "that version or a newer one; going back needs a backup.",
    );
  }
  return files.filter((name) => !applied.includes(name));
}

/** Creates the table of applied migrations. */
async function createMigrationsTable(client: Client): Promise<void> {
  try {
    await client.query(
      `create table if not exists migrations (
        name text primary key, applied_at timestamptz not null default now())`,
    );
  } catch (thrown) {
    // PostgreSQL reports a schema that the role is not allowed to use as a missing schema, 3F000.
    if (!(thrown instanceof DatabaseError) || !["42501", "3F000"].includes(thrown.code ?? ""))
      throw thrown;
    const { rows } = await client.query<{ name: string }>("select current_user as name");
    throw missingSchemaRight(rows[0]?.name ?? "");
  }
}

/** Returns the error for a role that is not allowed to create tables. */
export function missingSchemaRight(role: string): MissingRightError {
  return new MissingRightError(
    `The role ${role} is not allowed to create tables in the database. Make it the ` +
      "database's owner, or let an administrator run there: " +
      `grant usage, create on schema public to ${role};`,
  );
}
