import { Client, type ClientConfig, DatabaseError } from "pg";
import { ConfigError } from "../errors.ts";

/** Role that a connection takes when the one it logged in with would pass row-level security by. */
const serverRole = "beckon_server";

/** Of the lock under which that role is made. */
const roleLockKey = 4_217_690_114n;

/** Settings without which a commit that was acknowledged may be gone after a crash. */
const storageSettings = ["fsync", "full_page_writes", "synchronous_commit"];

/**
 * Looks whether this PostgreSQL keeps the promises Beckon makes on top of it.
 * @returns the role every connection must take, or undefined when the login role itself is bound by row-level security.
 * @throws ConfigError naming what is wrong and the remedy: version below 15, another encoding than UTF8, unsafe storage
 *   (accepted with BECKON_TRUST_STORAGE=1), transaction pooling in between.
 */
export async function checkServer(
  connection: ClientConfig,
  options: { trustStorage: boolean },
): Promise<string | undefined> {
  const client = await open(connection);
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      "select name, setting from pg_settings where name = any($1)",
      [[...storageSettings, "server_version_num", "server_encoding"]],
    );
    const setting = Object.fromEntries(rows.map((row) => [row.name, row.setting]));
    if (Number(setting.server_version_num) < 150_000) {
      throw new ConfigError(
        `PostgreSQL 15 or newer is needed; this server is version ${setting.server_version_num}. Use a newer one.`,
      );
    }
    if (setting.server_encoding !== "UTF8") {
      throw new ConfigError(
        `The database's encoding is ${setting.server_encoding}; it must be UTF8: create database beckon encoding 'UTF8'.`,
      );
    }
    const unsafe = storageSettings.filter((name) =>
      ["off", "local"].includes(setting[name] ?? "off"),
    );
    if (unsafe.length > 0 && !options.trustStorage) {
      throw new ConfigError(
        `The database server runs with ${unsafe.map((name) => `${name}=${setting[name]}`).join(", ")}, so a crash may lose what was acknowledged. ` +
          "Turn it on, or set BECKON_TRUST_STORAGE=1 if your provider makes storage safe by other means.",
      );
    }
    await refusePooling(client, connection);
    return await roleToTake(client);
  } finally {
    await client.end();
  }
}

/** Milliseconds that one question to the server may take. */
const patience = 5_000;

async function open(connection: ClientConfig): Promise<Client> {
  // Bare of our start-up options: a pooler may refuse them before we can say what is wrong with it.
  const { connectionString, connectionTimeoutMillis = patience } = connection;
  const client = new Client({
    ...(connectionString === undefined ? {} : { connectionString }),
    connectionTimeoutMillis,
    query_timeout: patience,
  });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/**
 * A transaction pooler gives a connection's server process to the next client as soon as a statement ends, so a second client
 * that begins a transaction gets ours, or finds us on another one afterwards; if there is but one, we wait for it in vain. Advisory
 * locks, LISTEN, prepared statements and our workspace setting all need a server process that stays.
 */
async function refusePooling(first: Client, connection: ClientConfig): Promise<void> {
  const pid = async (client: Client) =>
    (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid;
  const before = await pid(first);
  const second = await open(connection);
  try {
    await second.query("begin");
    const other = await pid(second);
    const after = await pid(first).catch(() => undefined);
    if (other === before || after !== before) {
      throw new ConfigError(
        "DATABASE_URL leads to a pooler in transaction mode. Point it at PostgreSQL itself, or at a pool in session mode.",
      );
    }
  } finally {
    await second.end();
  }
}

/**
 * Makes the role with its rights, each only where it is missing: two processes that grant the same at once disturb each other. The lock is
 * one database's, so another one's start may still be first with the role.
 */
const makeRole = `
do $$ begin
  perform pg_advisory_xact_lock(${roleLockKey});
  if not exists (select from pg_roles where rolname = '${serverRole}') then
    begin
      create role ${serverRole} nologin;
    exception when duplicate_object or unique_violation then null;
    end;
  end if;
  if not (has_schema_privilege('${serverRole}', 'public', 'usage') and has_schema_privilege('${serverRole}', 'public', 'create')) then
    grant usage, create on schema public to ${serverRole};
  end if;
  begin
    set local role ${serverRole};
    reset role;
  exception when insufficient_privilege then
    grant ${serverRole} to current_user;
  end;
end $$`;

async function roleToTake(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string; bypasses: boolean }>(
    "select rolname as name, rolsuper or rolbypassrls as bypasses from pg_roles where rolname = current_user",
  );
  const [login] = rows;
  if (!login?.bypasses) return undefined;
  try {
    await client.query(makeRole);
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError) || thrown.code !== "42501") throw thrown;
    throw new ConfigError(
      `The role ${login.name} passes row-level security by, and may not make the role ${serverRole} that Beckon would take instead. Let an ` +
        `administrator run: create role ${serverRole} nologin; grant ${serverRole} to ${login.name}; grant usage, create on schema public to ${serverRole};`,
    );
  }
  return serverRole;
}
