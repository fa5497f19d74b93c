import { Client, type ClientConfig, DatabaseError } from "pg";
import { undefinedAfter } from "../clock.ts";
import { ConfigError, messageOf } from "../errors.ts";
import { digitPairs } from "../ids.ts";
import { MissingRightError } from "./start-failure.ts";

/** Role that connections switch to if the login role bypasses row-level security. */
const serverRole = "beckon_server";

/** Key of the advisory lock that is held while the role `beckon_server` is created. */
const roleLockKey = 4_217_690_114n;

/**
 * Settings that make commits durable. If one is `off` or `local`, a crash can lose or corrupt
 * acknowledged data.
 */
const storageSettings = ["fsync", "full_page_writes", "synchronous_commit"];

const minVersion = 15;

/**
 * Checks that this PostgreSQL server meets Beckon's requirements.
 * @param options `isRehearsal`: whether the creation of the role `beckon_server` is rolled back.
 * @returns the role that every connection must switch to; undefined if row-level security applies
 *   to the login role.
 * @throws ConfigError if the version is below 15, the encoding is not UTF8, the collation does not
 *   sort ids by their bytes, storage is unsafe (unless BECKON_TRUST_STORAGE=1), or the connection
 *   leads through a pooler in transaction mode. The message says how to fix it.
 * @throws MissingRightError if the login role bypasses row-level security and is not allowed to
 *   create the role `beckon_server`, or this role does not own Beckon's tables.
 */
export async function checkServer(
  connection: ClientConfig,
  options: { trustStorage: boolean; isRehearsal?: boolean },
): Promise<string | undefined> {
  const client = await open(connection);
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      "select name, setting from pg_settings where name = any($1)",
      [[...storageSettings, "server_version_num", "server_encoding"]],
    );
    const setting = Object.fromEntries(rows.map((row) => [row.name, row.setting]));
    // PostgreSQL 14.12 reports 140012. Versions before 10 are numbered differently, but their
    // number is below the minimum too.
    const version = Number(setting.server_version_num) / 10_000;
    if (version < minVersion) {
      throw new ConfigError(
        `Beckon needs PostgreSQL ${minVersion} or newer, and this server is version ` +
          `${Math.floor(version)}. Upgrade it, or use another server.`,
      );
    }
    if (setting.server_encoding !== "UTF8") {
      throw new ConfigError(
        `The database's encoding is ${setting.server_encoding}; it must be UTF8: create ` +
          "database beckon encoding 'UTF8'.",
      );
    }
    await rejectCollation(client);
    const unsafe = storageSettings.filter((name) =>
      ["off", "local"].includes(setting[name] ?? "off"),
    );
    if (unsafe.length > 0 && !options.trustStorage) {
      throw new ConfigError(
        "The database server runs with " +
          `${unsafe.map((name) => `${name}=${setting[name]}`).join(", ")}, so a crash can lose ` +
          "acknowledged writes. " +
          "Turn it on, or set BECKON_TRUST_STORAGE=1 if your provider makes storage safe by " +
          "other means.",
      );
    }
    await rejectTransactionPooling(client, connection);
    return await selectRole(client, options.isRehearsal === true);
  } finally {
    await client.end();
  }
}

/** Maximum time of a connection attempt, and of one query, unless the caller sets another one. */
const queryTimeoutMs = 5_000;
/** Maximum time to close a connection. Closing can hang if the network is down. */
const closeTimeoutMs = 500;

async function open(connection: ClientConfig): Promise<Client> {
  const client = createClient(connection);
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** @throws ConfigError if DATABASE_URL cannot be parsed, or a file that it names cannot be read. */
function createClient(connection: ClientConfig): Client {
  // The `options` of `connectionSettings` are not sent here. A pooler can reject them, and
  // `rejectTransactionPooling` could then not report its transaction mode.
  const { connectionString, connectionTimeoutMillis = queryTimeoutMs } = connection;
  const { query_timeout = queryTimeoutMs } = connection;
  try {
    return new Client({
      ...(connectionString === undefined ? {} : { connectionString }),
      connectionTimeoutMillis,
      query_timeout,
    });
  } catch (thrown) {
    // The message of this error can contain the path of a certificate or key file from the URL, but
    // never the password.
    throw new ConfigError(
      `DATABASE_URL cannot be used: ${messageOf(thrown)}. Percent-encode special characters in ` +
        "user and password, and check the files that it names.",
    );
  }
}

/**
 * Compares how the database sorts all pairs of an id's digits with the order of their bytes. Pairs
 * show every difference that a language makes: some sort `y` after `i`, `ch` after `h`, or `aa`
 * after `z`.
 * @throws ConfigError if the orders differ. Readers continue after the last id that they have read,
 *   and would miss rows.
 */
async function rejectCollation(client: Client): Promise<void> {
  const { rows } = await client.query<{ collation: string; is_bytewise: boolean }>(
    // Version 17 has renamed the column daticulocale to datlocale.
    `select coalesce(to_json(d) ->> 'datlocale', to_json(d) ->> 'daticulocale', d.datcollate)
        as collation,
      (select array_agg(pair order by pair) = array_agg(pair order by pair collate "C")
        from unnest($1::text[]) as pair) as is_bytewise
    from pg_database d where d.datname = current_database()`,
    [digitPairs],
  );
  const [database] = rows;
  if (database?.is_bytewise !== false) return;
  throw new ConfigError(
    `The database's collation ${database.collation} does not sort ids by their bytes, so readers ` +
      "would miss events. Move to a database with lc_collate 'C'; docs/operate.md says how, under " +
      "Collation.",
  );
}

/**
 * Detects a pooler in transaction mode, in which a client keeps a server process only until the end
 * of its transaction. To find out, a second client begins a transaction, and the pids of the server
 * processes are compared. Behind such a pooler, the second client gets the process of the first
 * one, or the first client gets another process. Beckon needs connections that keep their server
 * process, for advisory locks, LISTEN, prepared statements, and the settings that `connect` sends
 * when it opens a connection.
 *
 * If both clients have the same process, the first one sends no further query, which would wait for
 * the transaction of the second one. So a timeout means that the network or the server is slow.
 * @throws ConfigError if there is such a pooler; the error of the connection if one breaks or does
 *   not respond in time.
 */
async function rejectTransactionPooling(first: Client, connection: ClientConfig): Promise<void> {
  const pid = async (client: Client) =>
    (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid;
  const before = await pid(first);
  const second = await open(connection);
  try {
    await second.query("begin");
    const other = await pid(second);
    if (other === before || (await pid(first)) !== before) {
      throw new ConfigError(
        "DATABASE_URL leads to a pooler in transaction mode. Point it at PostgreSQL itself.",
      );
    }
  } finally {
    await undefinedAfter(second.end(), closeTimeoutMs);
  }
}

/**
 * Creates the role and grants its privileges if they are missing. Existing privileges are not
 * granted again, because concurrent grants of the same privilege fail. The advisory lock applies to
 * one database, so a Beckon on another database of the cluster can create the role at the same
 * time. The resulting error is ignored.
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

async function selectRole(client: Client, isRehearsal: boolean): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string; bypasses: boolean }>(
    "select rolname as name, rolsuper or rolbypassrls as bypasses from pg_roles where rolname = current_user",
  );
  const [login] = rows;
  if (!login?.bypasses) return undefined;
  try {
    if (isRehearsal) await client.query("begin");
    await client.query(createRole);
    await rejectTablesOfOthers(client, login.name);
    if (isRehearsal) await client.query("rollback");
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError) || thrown.code !== "42501") throw thrown;
    throw new MissingRightError(
      `The role ${login.name} bypasses row-level security and is not allowed to create the ` +
        `role ${serverRole} that Beckon would use instead. Let an ` +
        `administrator run: create role ${serverRole} nologin; grant ${serverRole} to ` +
        `${login.name}; grant usage, create on schema public to ${serverRole};`,
    );
  }
  return serverRole;
}

/**
 * @throws MissingRightError if the role `beckon_server` does not own Beckon's tables, for example
 *   after a restore that gave them to another role.
 */
async function rejectTablesOfOthers(client: Client, login: string): Promise<void> {
  const { rows } = await client.query<{ owner: string }>(
    `select pg_get_userbyid(c.relowner) as owner from pg_class c
     where c.oid = to_regclass('migrations') and not pg_has_role($1, c.relowner, 'usage')`,
    [serverRole],
  );
  const [table] = rows;
  if (table === undefined) return;
  throw new MissingRightError(
    `Beckon's tables in this database belong to ${table.owner}, but connections use the role ` +
      `${serverRole}, because ${login} bypasses row-level security. Log in as ${table.owner} if ` +
      `it is an ordinary role. Otherwise make ${serverRole} the owner of the tables, for example ` +
      `by restoring the dump with pg_restore --no-owner --role=${serverRole}.`,
  );
}
