import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";
import { connect, type Database } from "../src/base/database/index.ts";
import { createLog } from "../src/base/log.ts";
import { atEnd } from "./at-end.ts";
import { databaseAt } from "./database-url.ts";

/** The database of one test file, or of one test. */
export interface TestDatabase {
  readonly name: string;
  /** DATABASE_URL for a server that the test starts itself. */
  readonly url: string;
  /**
   * Role to which connections to `url` must switch, as `checkServer` returns it. In the Vitest
   * project `external`, where the login role is a superuser, it is `beckon_server`. In the other
   * projects it is undefined: connections keep their login role.
   */
  readonly role: string | undefined;
  /** The pools of a server process. Opened lazily, closed before the database is dropped. */
  readonly database: Database;
}

/** Time for a PostgreSQL backend to exit after its client disconnected. */
const disconnectTimeoutMs = 20_000;

/**
 * Creates a database with Beckon's schema, or without tables if `empty`. Call it once at the top of
 * a file, or in a test that needs a database of its own:
 *
 *     const { database } = await testDatabase();
 *
 * The database is dropped after the tests of the file, or after the test. Connections that are
 * still open at that time are a failure: code that does not close its connections would leak them
 * in production too.
 */
export async function testDatabase({ empty = false, poolSize = 8 } = {}): Promise<TestDatabase> {
  const server = inject("server");
  const name = `test_${randomBytes(8).toString("hex")}`;
  // The strategy file_copy would make a checkpoint for each copy, which takes long if several files
  // begin at once. wal_log writes the copy to the WAL. It is not compressed, to save CPU.
  const source = empty ? "template0" : server.template;
  await asAdmin(server.adminUrl, async (admin) => {
    await admin.query("set wal_compression = off");
    await admin.query(
      `create database ${name} template ${source} strategy wal_log owner ${server.owner}`,
    );
  });
  const url = databaseAt(server.url, name);
  const database = connect({ url, poolSize, role: server.role, log: createLog("silent") });

  atEnd(async () => {
    await database.close();
    await asAdmin(server.adminUrl, async (admin) => {
      const leaked = await connectionsLeft(admin, name);
      await admin.query(`drop database ${name} with (force)`);
      if (leaked.length > 0)
        throw new Error(
          `${leaked.length} database connections were not closed:\n${leaked.join("\n")}`,
        );
    });
  });
  return { name, url, role: server.role, database };
}

async function connectionsLeft(admin: Client, name: string): Promise<string[]> {
  for (
    const deadline = performance.now() + disconnectTimeoutMs;
    ;
    await new Promise((resolve) => setTimeout(resolve, 20))
  ) {
    const { rows } = await admin.query<{ line: string }>(
      `select format('  %s, %s for %s, last: %s', coalesce(nullif(application_name, ''), 'unnamed'),
        state, now() - state_change, left(query, 200)) as line
         from pg_stat_activity
        where datname = $1 and backend_type = 'client backend'
        order by backend_start`,
      [name],
    );
    if (rows.length === 0 || performance.now() > deadline) return rows.map((row) => row.line);
  }
}

async function asAdmin<T>(url: string, work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
