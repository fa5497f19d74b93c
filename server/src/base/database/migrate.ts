import { readdir, readFile } from "node:fs/promises";
import { Client, type ClientConfig, DatabaseError } from "pg";
import { ConfigError } from "../errors.ts";
import { rejectDroppedOptions } from "./connect.ts";
import { MissingRightError } from "./start-failure.ts";

const folder = new URL("./migrations/", import.meta.url);

/**
 * Key of the advisory lock: an arbitrary number. It must be the same in every version, because
 * otherwise processes of two versions could migrate at the same time.
 */
const lockKey = 4_217_690_113n;

/**
 * Applies all pending migrations, then runs `then` on the same connection. Both are done under an
 * advisory lock, so if several processes start together, one migrates and the others wait. Each
 * migration and its record are one transaction, so the next startup can continue after a process
 * was killed.
 * @param connection the settings of a connection that sees all workspaces.
 * @throws ConfigError if the database was migrated by a newer Beckon, or a pooler dropped the
 *   connection's `options`.
 * @throws MissingRightError if the role is not allowed to create tables.
 */
export async function migrate<T>(
  connection: ClientConfig,
  then: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ ...connection, query_timeout: 0 });
  client.on("error", () => {});
  await client.connect();
  try {
    await rejectDroppedOptions(client);
    // Both timeouts, `query_timeout` above and `statement_timeout` here, are turned off: migrating
    // a large table can take longer, and so can waiting for the lock while another process
    // migrates.
    await client.query("set statement_timeout = 0");
    await client.query("select pg_advisory_lock($1)", [lockKey]);
    await createMigrationsTable(client);
    const { rows } = await client.query<{ name: string }>("select name from migrations");
    for (const file of await rejectNewerSchema(rows.map(({ name }) => name))) {
      const text = await readFile(new URL(file, folder), "utf8");
      await client.query("begin");
      await client.query("insert into migrations (name) values ($1)", [file]);
      await client.query(text);
      await client.query("commit");
    }
    return await then(client);
  } finally {
    await client.end();
  }
}

/**
 * Returns the migrations that are pending, in their order.
 * @param applied names of the migrations that the database has.
 * @throws ConfigError if the database was migrated by a newer Beckon.
 */
export async function rejectNewerSchema(applied: readonly string[]): Promise<string[]> {
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
    if (!(thrown instanceof DatabaseError) || thrown.code !== "42501") throw thrown;
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
