import { Client, type ClientConfig, DatabaseError } from "pg";
import { ConfigError, messageOf } from "../errors.ts";
import { MissingRightError } from "./start-failure.ts";

/** Role that connections take if their login role bypasses row-level security. */
const serverRole = "beckon_server";

/** Advisory lock that is held while that role is made. */
const roleLockKey = 4_217_690_114n;

/** Settings without which a crash can lose committed data. */
const storageSettings = ["fsync", "full_page_writes", "synchronous_commit"];

const minVersion = 15;

/**
 * Checks that this PostgreSQL keeps the guarantees that Beckon is built on.
 * @returns the role that every connection must take, or undefined if row-level security applies to
 *   the login role itself.
 * @throws ConfigError that names what is wrong and the remedy: a version below 15, another encoding
 *   than UTF8, unsafe storage (unless `trustStorage`), a pooler in transaction mode.
 * @throws MissingRightError if the login role bypasses row-level security and cannot make the role.
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
    // 14.12 is 140012; a server older than 10 does not matter here.
    const version = Number(setting.server_version_num) / 10_000;
    if (version < minVersion) {
      throw new ConfigError(
        `PostgreSQL ${minVersion} or newer is needed; this server is version ${Math.floor(version)}. Use a newer one.`,
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
        `The database server runs with ${unsafe.map((name) => `${name}=${setting[name]}`).join(", ")}, so a crash can lose committed data. ` +
          "Turn it on, or set BECKON_TRUST_STORAGE=1 if your provider makes storage safe by other means.",
      );
    }
    await rejectPooling(client, connection);
    return await roleFor(client);
  } finally {
    await client.end();
  }
}

/** Limit of a connection attempt, and of each query here. */
const timeoutMs = 5_000;

async function open(connection: ClientConfig): Promise<Client> {
  const client = createClient(connection);
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** @throws ConfigError if DATABASE_URL cannot be parsed, or a file that it names cannot be read. */
function createClient(connection: ClientConfig): Client {
  // Without Beckon's startup options: a pooler can reject them before we know that it is one.
  const { connectionString, connectionTimeoutMillis = timeoutMs } = connection;
  try {
    return new Client({
      ...(connectionString === undefined ? {} : { connectionString }),
      connectionTimeoutMillis,
      query_timeout: timeoutMs,
    });
  } catch (thrown) {
    // Its message names no part of the URL.
    throw new ConfigError(
      `DATABASE_URL cannot be used: ${messageOf(thrown)}. Percent-encode special characters in user and password, and check the files that it names.`,
    );
  }
}

/**
 * A pooler in transaction mode gives a connection's backend to another client as soon as a
 * transaction ends: a second client gets our backend, or moves us to another one; with a single
 * backend we wait in vain. Advisory locks, LISTEN, prepared statements and the workspace setting
 * need a backend that stays.
 */
async function rejectPooling(first: Client, connection: ClientConfig): Promise<void> {
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
 * Each right is granted only where it is missing, since concurrent grants of two processes fail.
 * The lock is one database's: another database's startup can still make the role first.
 */
const createRole = `
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

async function roleFor(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string; bypasses: boolean }>(
    "select rolname as name, rolsuper or rolbypassrls as bypasses from pg_roles where rolname = current_user",
  );
  const [login] = rows;
  if (!login?.bypasses) return undefined;
  try {
    await client.query(createRole);
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError) || thrown.code !== "42501") throw thrown;
    throw new MissingRightError(
      `The role ${login.name} bypasses row-level security, and cannot make the role ${serverRole} that Beckon takes instead. Let an ` +
        `administrator run: create role ${serverRole} nologin; grant ${serverRole} to ${login.name}; grant usage, create on schema public to ${serverRole};`,
    );
  }
  return serverRole;
}
