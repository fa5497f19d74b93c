import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { databaseAt } from "../../../test/database-url.ts";
import { startProxy } from "../../../test/proxy.ts";
import { startTransactionPooler } from "../../../test/transaction-pooler.ts";
import { ConfigError } from "../errors.ts";
import { createLog } from "../log.ts";
import { checkServer } from "./check-server.ts";
import { connect } from "./connect.ts";
import { failureKind, isUnreachable } from "./failures.ts";
import { inspectServer } from "./inspect-server.ts";
import { migrate } from "./migrate.ts";
import { explainStartFailure } from "./start-failure.ts";

const { name, url, role } = await testDatabase();
const empty = await testDatabase({ empty: true });
const { adminUrl } = inject("server");
const strict = { trustStorage: false };

async function asAdmin(text: string, at = adminUrl): Promise<void> {
  const admin = new Client({ connectionString: at });
  await admin.connect();
  try {
    await admin.query(text);
  } finally {
    await admin.end();
  }
}

async function errorOf(connectionString: string, options = strict): Promise<string> {
  try {
    await checkServer({ connectionString }, options);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.message;
    throw thrown;
  }
  throw new Error("the server was accepted");
}

/**
 * Starts a proxy that replaces texts in the server's responses: each key of `changes` is replaced
 * by its value, which must have the same length.
 */
async function startFakeServer(changes: Record<string, string>): Promise<string> {
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  proxy.rewrite = (bytes) => {
    const text = bytes.toString("latin1");
    const changed = Object.entries(changes).reduce(
      (current, [from, to]) => current.replaceAll(from, to),
      text,
    );
    return Buffer.from(changed, "latin1");
  };
  return proxy.urlFor(url);
}

test("a suitable server is accepted, and a superuser switches to the role beckon_server", async () => {
  expect(await checkServer({ connectionString: url }, strict)).toBe(role);
});

test("a version below 15 is rejected", async () => {
  const { version } = await versionOf();
  expect(await errorOf(await startFakeServer({ [version]: "140012" }))).toBe(
    "Beckon needs PostgreSQL 15 or newer, and this server is version 14. Upgrade it, or use another server.",
  );
  expect(
    await checkServer({ connectionString: await startFakeServer({ [version]: "150000" }) }, strict),
  ).toBe(role);
});

async function versionOf(): Promise<{ version: string }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select current_setting('server_version_num') as version");
  await client.end();
  return rows[0];
}

test("an encoding other than UTF8 is rejected with a way to fix it", async () => {
  const other = `${name}_ascii`;
  await asAdmin(
    `create database ${other} template template0 encoding 'SQL_ASCII' locale_provider libc locale 'C' owner ${inject("server").owner}`,
  );
  onTestFinished(() => asAdmin(`drop database ${other} with (force)`));
  expect(await errorOf(databaseAt(url, other))).toBe(
    "The database's encoding is SQL_ASCII; it must be UTF8: create database beckon encoding 'UTF8'.",
  );
});

/** Creates a database that sorts text by the rules of a language, and returns its URL. */
async function createSorted(language: string): Promise<string> {
  const other = `${name}_${language}`;
  await asAdmin(
    `create database ${other} template template0 locale_provider icu icu_locale '${language}' owner ${inject("server").owner}`,
  );
  onTestFinished(() => asAdmin(`drop database ${other} with (force)`));
  return databaseAt(url, other);
}

test.each(["lt", "cs", "da", "et", "hu"])(
  "a database that sorts ids by the rules of %s is rejected with a way to fix it",
  async (language) => {
    expect(await errorOf(await createSorted(language))).toBe(
      `The database's collation ${language} does not sort ids by their bytes, so readers would miss events. Move to a database with lc_collate 'C'; docs/operate.md says how, under Collation.`,
    );
  },
);

test("a language that sorts ids by their bytes is accepted", async () => {
  expect(await checkServer({ connectionString: await createSorted("en") }, strict)).toBe(role);
});

test("the message about a missing database has the statement that creates a suitable one", async () => {
  const other = `${name}_missing`;
  const missing = Object.assign(new Error("it is missing"), { code: "3D000" });
  const { reason } = explainStartFailure(missing, databaseAt(url, other));
  await asAdmin(/create database .*;/.exec(reason)?.[0] ?? "");
  onTestFinished(() => asAdmin(`drop database ${other} with (force)`));
  expect(await checkServer({ connectionString: databaseAt(url, other) }, strict)).toBe(role);
  const client = new Client({ connectionString: databaseAt(url, other) });
  await client.connect();
  const { rows } = await client.query(
    "select datlocprovider, datcollate from pg_database where datname = current_database()",
  );
  await client.end();
  expect(rows).toEqual([{ datlocprovider: "c", datcollate: "C" }]);
});

test("unsafe storage is rejected with a way to fix it, and accepted if it is trusted", async () => {
  for (const value of ["off", "local"]) {
    await asAdmin(`alter database ${name} set synchronous_commit = ${value}`);
    const error = await errorOf(url);
    expect(error).toMatch(
      `The database server runs with synchronous_commit=${value}, so a crash can lose acknowledged writes.`,
    );
    expect(error).toMatch(/Turn it on, or set BECKON_TRUST_STORAGE=1/);
    expect(await checkServer({ connectionString: url }, { trustStorage: true })).toBe(role);
  }
  await asAdmin(`alter database ${name} reset synchronous_commit`);
  expect(await checkServer({ connectionString: url }, strict)).toBe(role);
});

test.each([1, 2, 5])(
  "a pooler in transaction mode with %i connections is rejected with a way to fix it",
  async (size) => {
    const pooler = await startTransactionPooler(url, { size });
    onTestFinished(() => pooler.close());
    expect(await errorOf(pooler.url)).toMatch(
      /pooler in transaction mode. Point it at PostgreSQL itself\.$/,
    );
  },
);

test("a pooler that drops the startup parameter options is rejected before anything is written", async () => {
  const proxy = await startProxy(empty.url);
  onTestFinished(() => proxy.close());
  // Renames `options` to a name of the same length. PostgreSQL accepts any parameter with a dot in
  // its name, and this one has no effect.
  proxy.rewriteRequest = (bytes) =>
    Buffer.from(bytes.toString("latin1").replace("\0options\0", "\0opt.ion\0"), "latin1");
  const behind = proxy.urlFor(empty.url);
  const pools = connect({ url: behind, poolSize: 4, role, log: createLog("silent") });
  onTestFinished(() => pools.close());
  const errors = [
    await migrate(pools.settings, async () => {}).catch((thrown: unknown) => thrown),
    await inspectServer(behind, strict).catch((thrown: unknown) => thrown),
  ];
  for (const error of errors) {
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ message: expect.stringMatching(/pooler.*`options`.*PgBouncer/) });
  }
  const { rows } = await empty.database.engine.query("select to_regclass('migrations') as name");
  expect(rows).toEqual([{ name: null }]);
});

test("a connection that breaks during the check for a pooler is not reported as a pooler", async () => {
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  let queries = 0;
  void proxy.cutNext({
    request: (bytes) => bytes.includes("pg_backend_pid") && ++queries === 3,
    pass: "nothing",
  });
  const thrown: unknown = await checkServer({ connectionString: proxy.urlFor(url) }, strict).catch(
    (error: unknown) => error,
  );
  expect(queries).toBe(3);
  expect(failureKind(thrown)).toBe("lost");
});

test("a network that stalls during the check for a pooler is an unreachable server", async () => {
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  let queries = 0;
  proxy.changeWith((bytes) => bytes.includes("pg_backend_pid") && ++queries === 3, {
    type: "blackHole",
  });
  const thrown: unknown = await checkServer(
    { connectionString: proxy.urlFor(url), query_timeout: 300 },
    strict,
  ).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ message: "Query read timeout" });
  expect(isUnreachable(thrown)).toBe(true);
});

test("a server that does not respond is an error after a timeout", async () => {
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  proxy.weather = { type: "blackHole" };
  await expect(
    checkServer({ connectionString: proxy.urlFor(url), connectionTimeoutMillis: 200 }, strict),
  ).rejects.toThrow("timeout expired");
});

test("processes that start concurrently as a superuser can all create the role", async () => {
  const everything = `${name}_fresh`;
  await asAdmin(`create database ${everything}`);
  onTestFinished(() => asAdmin(`drop database ${everything} with (force)`));
  const connectionString = databaseAt(adminUrl, everything);
  const roles = await Promise.all(
    Array.from({ length: 8 }, () => checkServer({ connectionString }, strict)),
  );
  expect(new Set(roles)).toEqual(new Set(["beckon_server"]));
});

test("a login role with bypassrls switches to the role, or the error says what to grant", async () => {
  const login = `login_${randomBytes(4).toString("hex")}`;
  const database = `${name}_bypass`;
  await asAdmin(`create role ${login} login bypassrls password 'secret'`);
  await asAdmin(`create database ${database} owner ${login}`);
  onTestFinished(async () => {
    await asAdmin(`drop database ${database} with (force)`);
    await asAdmin(`drop role ${login}`);
  });
  const connectionString = databaseAt(
    adminUrl.replace(/\/\/[^@]*@/, `//${login}:secret@`),
    database,
  );
  await asAdmin(
    "do $$ begin create role beckon_server nologin; exception when duplicate_object then null; end $$",
  );
  expect(await errorOf(connectionString)).toMatch(
    `grant beckon_server to ${login}; grant usage, create on schema public to beckon_server;`,
  );

  await asAdmin(`grant beckon_server to ${login}`);
  await asAdmin(
    "grant usage, create on schema public to beckon_server",
    databaseAt(adminUrl, database),
  );
  expect(await checkServer({ connectionString }, strict)).toBe("beckon_server");
  const pools = connect({
    url: connectionString,
    poolSize: 4,
    role: "beckon_server",
    log: createLog("silent"),
  });
  onTestFinished(() => pools.close());
  await migrate(pools.settings, async () => {});
  const { rows } = await pools.engine.query(
    "select current_user as name, count(*)::int as agents from agents",
  );
  expect(rows).toEqual([{ name: "beckon_server", agents: 0 }]);
});

test("tables of another role than the connections' role are an error that names both", async () => {
  const owner = `owner_${randomBytes(4).toString("hex")}`;
  const database = `${name}_restored`;
  await asAdmin(`create role ${owner}`);
  await asAdmin(`create database ${database} owner ${owner}`);
  onTestFinished(async () => {
    await asAdmin(`drop database ${database} with (force)`);
    await asAdmin(`drop role ${owner}`);
  });
  const connectionString = databaseAt(adminUrl, database);
  await asAdmin(`set role ${owner}; create table migrations (name text)`, connectionString);

  const message = await errorOf(connectionString);
  expect(message).toMatch(`Beckon's tables in this database belong to ${owner}, `);
  expect(message).toMatch("use the role beckon_server");
  expect(message).toMatch("pg_restore --no-owner --role=beckon_server");
});

test("settings of the database do not replace those on which Beckon relies", async () => {
  const settings = {
    datestyle: "'German'",
    default_transaction_isolation: "'repeatable read'",
    idle_session_timeout: "'1s'",
    lock_timeout: "'1s'",
  };
  for (const [setting, value] of Object.entries(settings))
    await asAdmin(`alter database ${name} set ${setting} = ${value}`);
  onTestFinished(() => asAdmin(`alter database ${name} reset all`));
  const pools = connect({ url, poolSize: 4, role, log: createLog("silent") });
  onTestFinished(() => pools.close());
  const { rows } = await pools.engine.query(
    `select now() as time, current_setting('transaction_isolation') as isolation,
      current_setting('idle_session_timeout') as idle, current_setting('lock_timeout') as lock`,
  );
  expect(rows).toEqual([
    { time: expect.any(Date), isolation: "read committed", idle: "0", lock: "0" },
  ]);
});

test("options in the URL are kept and do not override ours or our application_name", async () => {
  const options = encodeURIComponent("-c work_mem=5MB -c statement_timeout=1");
  const pools = connect({
    // Question marks are allowed in a query.
    url: `${url}${url.includes("?") ? "&" : "?"}application_name=x&fallback_application_name=a?b&options=${options}`,
    poolSize: 4,
    role,
    log: createLog("silent"),
  });
  onTestFinished(() => pools.close());
  const { rows } = await pools.engine.query(
    `select current_setting('work_mem') as memory, current_setting('statement_timeout') as timeout, current_setting('beckon.workspace') as workspace, current_user as role, current_setting('application_name') as application`,
  );
  expect(rows).toEqual([
    {
      memory: "5MB",
      timeout: "20s",
      workspace: "*",
      role: role ?? "beckon",
      application: "beckon",
    },
  ]);
});
