import { randomBytes } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { testDatabase } from "../server/test/database.ts";
import { databaseAt } from "../server/test/database-url.ts";
import { openClient } from "../server/test/open-client.ts";
import { startProxy } from "../server/test/proxy.ts";
import { startTransactionPooler } from "../server/test/transaction-pooler.ts";
import { checkout, launch, startProduct, temporaryFolder } from "./product.ts";

/** Tests startups that fail, most with PostgreSQL over TCP, and arguments of `script/server`. */

const { name } = await testDatabase({ empty: true });
const { adminUrl } = inject("server");
const password = randomBytes(12).toString("hex");
const admin = databaseAt(adminUrl, name);

/** Runs statements as the superuser, in the test's database. */
async function asAdmin(...statements: string[]): Promise<void> {
  const client = await openClient(admin);
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Creates a role that can log in, and returns the URL of its connection. */
async function createLogin(): Promise<{ login: string; url: string }> {
  const login = `login_${randomBytes(4).toString("hex")}`;
  await asAdmin(`create role ${login} login password '${password}'`);
  onTestFinished(() => asAdmin(`drop role ${login}`));
  return { login, url: admin.replace(/\/\/[^@]*@/, `//${login}:${password}@`) };
}

/**
 * Starts Beckon on the database, expects that it exits without printing the password, and returns
 * its exit code and output.
 */
async function failedStart(databaseUrl: string): Promise<[number | string, string]> {
  const startedAt = performance.now();
  const product = launch({
    DATABASE_URL: databaseUrl,
    BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
    BECKON_DATA_DIR: join(temporaryFolder(), "data"),
    PORT: "0",
  });
  const code = await product.exited;
  expect(performance.now() - startedAt).toBeLessThan(60_000);
  expect(product.output()).toMatch(/^Beckon \S+ cannot start\. /);
  expect(product.output()).not.toContain(password);
  return [code, product.output()];
}

test("a wrong password ends the start at once with 77", async () => {
  const { login, url } = await createLogin();
  const wrong = `${password}_wrong`;
  const [code, output] = await failedStart(url.replace(password, wrong.slice(1)));
  expect(code).toBe(77);
  expect(output).toContain(`rejects the password of ${login}. Correct user and password in`);
  expect(output.trim().split("\n")).toHaveLength(1);
});

test("a missing database ends the start with 77 and the statement that creates it", async () => {
  const { login, url } = await createLogin();
  const [code, output] = await failedStart(databaseAt(url, "nowhere"));
  expect(code).toBe(77);
  expect(output).toContain(`create database "nowhere" owner "${login}" encoding 'UTF8'`);
});

test("missing rights end the start with 77 and the right to grant", async () => {
  const { login, url } = await createLogin();
  const [code, output] = await failedStart(url);
  expect(code).toBe(77);
  expect(output).toContain(`grant usage, create on schema public to ${login};`);

  await asAdmin(`revoke connect on database ${name} from public`);
  onTestFinished(() => asAdmin(`grant connect on database ${name} to public`));
  const [again, denied] = await failedStart(url);
  expect(again).toBe(77);
  expect(denied).toContain(`denies ${login} a right in ${name}.`);
});

test("an old version ends the start with 78", async () => {
  const client = await openClient(admin);
  const { rows } = await client.query("select current_setting('server_version_num') as version");
  await client.end();
  const proxy = await startProxy(admin);
  onTestFinished(() => proxy.close());
  proxy.rewrite = (bytes) =>
    Buffer.from(bytes.toString("latin1").replaceAll(rows[0].version, "140012"), "latin1");
  const [code, output] = await failedStart(proxy.urlFor(admin));
  expect(code).toBe(78);
  expect(output).toContain("Beckon needs PostgreSQL 15 or newer, and this server is version 14.");
});

test("a server without TLS ends the start with 77 if the URL asks for TLS", async () => {
  const [code, output] = await failedStart(`${admin}?sslmode=verify-full`);
  expect(code).toBe(77);
  expect(output).toContain("does not offer TLS");
});

test("a pooler in transaction mode ends the start with 78", async () => {
  const pooler = await startTransactionPooler(admin, { size: 2 });
  onTestFinished(() => pooler.close());
  const [code, output] = await failedStart(pooler.url);
  expect(code).toBe(78);
  expect(output).toContain("pooler in transaction mode");
});

test("a stop ends a startup that waits while another process migrates", async () => {
  const other = await openClient(admin);
  onTestFinished(() => other.end());
  await other.query("select pg_advisory_lock(4217690113)");
  const product = launch({
    DATABASE_URL: admin,
    BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
    BECKON_DATA_DIR: join(temporaryFolder(), "data"),
    PORT: "0",
  });
  const waiting = `select from pg_stat_activity
    where query like 'select pg_try_advisory_lock%' and datname = current_database()`;
  await expect.poll(async () => (await other.query(waiting)).rowCount, { timeout: 60_000 }).toBe(1);
  const stoppedAt = performance.now();
  expect(await product.stop()).toBe(0);
  expect(performance.now() - stoppedAt).toBeLessThan(15_000);
});

test("a URL that cannot be parsed ends the start with 78, and is not shown", async () => {
  const [code, output] = await failedStart(`postgresql://ada:${password}/@host:port/x`);
  expect(code).toBe(78);
  expect(output).toContain("DATABASE_URL cannot be used: Invalid URL.");
});

test("a missing master.key ends the start of an installation with 78, and is not created again", async () => {
  const data = join(temporaryFolder(), "data");
  const [path, copy] = [join(data, "master.key"), join(data, "copy.key")];
  const settings = { BECKON_DATA_DIR: data, PORT: "0" };
  await (await startProduct(settings)).stop();
  renameSync(path, copy);

  const refused = launch(settings);
  expect(await refused.exited).toBe(78);
  expect(refused.output()).toContain(`The master key is missing: ${path} does not exist`);
  expect(existsSync(path)).toBe(false);

  renameSync(copy, path);
  await startProduct(settings);
});

/** Runs `script/server` with these arguments and settings. */
const command = (args: readonly string[], env: Record<string, string> = {}) =>
  launch(env, [join(checkout, "script/server"), ...args]);

test("--version and --help print and exit with 0, and any other argument exits with 64", async () => {
  const [versioned, helped, unknown] = [["--version"], ["--help"], ["--port=8080"]].map((args) =>
    command(args),
  );
  expect([await versioned?.exited, versioned?.output()]).toEqual([
    0,
    expect.stringMatching(/^Beckon \d+\.\d+\.\d+\n$/),
  ]);
  expect(await helped?.exited).toBe(0);
  expect(helped?.output()).toMatch(/\n {2}BECKON_SETUP_LINK\n/);
  expect([await unknown?.exited, unknown?.output()]).toEqual([
    64,
    "Unknown argument --port=8080. script/server --help lists what there is.\n",
  ]);
});

test("a misspelled setting ends the start with 78, and another unknown one is a warning", async () => {
  const product = command([], {
    BECKON_PROCESES: "2",
    BECKON_DATA_DIR: join(temporaryFolder(), "data"),
  });
  expect(await product.exited).toBe(78);
  expect(product.output()).toContain("Did you mean BECKON_PROCESSES?");
  const warned = command([], {
    BECKON_MASTER_KEY_FILE: "/run/secrets/key",
    BECKON_SERVICE_HOST: "10.0.0.1",
    DATABASE_URL: "postgresql://nobody@127.0.0.1:1/x",
    BECKON_MASTER_KEY: "00".repeat(32),
    BECKON_DATA_DIR: join(temporaryFolder(), "data"),
  });
  await expect.poll(warned.output, { timeout: 60_000 }).toContain("Waiting for PostgreSQL");
  expect(warned.output().match(/^Warning: .*/gm)).toEqual([
    "Warning: BECKON_MASTER_KEY_FILE is not a setting and is ignored. The nearest setting is BECKON_MASTER_KEY.",
  ]);
  expect(await warned.stop()).toBe(0);
});
