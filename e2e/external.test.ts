import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { testDatabase } from "../server/test/database.ts";
import { databaseAt } from "../server/test/database-url.ts";
import { openClient } from "../server/test/open-client.ts";
import { caller } from "./call.ts";
import { freePort, launch, startProduct, stillRunning, temporaryFolder, until } from "./product.ts";

/**
 * Tests Beckon with an external PostgreSQL, connected over TCP as a superuser. Beckon then writes
 * only the demo agent's secrets to the data folder.
 */
const { name } = await testDatabase({ empty: true });
const folder = join(temporaryFolder(), "data");
const key = `bootstrap_${randomBytes(24).toString("base64url")}`;
const settings = {
  DATABASE_URL: databaseAt(inject("server").adminUrl, name),
  BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
  BECKON_DATA_DIR: folder,
  PORT: String(await freePort()),
};

test("with DATABASE_URL it keeps all data in that database, except the demo agent's secrets", async () => {
  const first = await startProduct({ ...settings, BECKON_BOOTSTRAP_KEY: key });
  const call = caller(
    () => `http://127.0.0.1:${settings.PORT}`,
    () => key,
  );
  const demo = first.demo();
  const hello = () =>
    call(`/agents/${demo.id}/invoke`, { key: demo.token, body: { input: "Hello" } });
  expect((await hello()).body).toEqual({ ok: true, run_id: expect.any(String), output: "Hello" });
  expect(first.output()).not.toMatch(/Bootstrap key|PostgreSQL|management key/);
  expect(first.output()).not.toContain(key);

  // Another start on the same port fails before it deletes the bootstrap key.
  const mistaken = launch(settings);
  expect(await mistaken.exited).toBe(78);
  expect(mistaken.output()).toContain("EADDRINUSE");
  expect((await call("/runs")).status).toBe(200);

  await call(`/agents/${demo.id}/pause`, { method: "POST" });
  const started = first.descendants();
  expect(await first.stop()).toBe(0);
  expect(stillRunning(started, folder)).toEqual([]);

  // Starts again on the same database with another bootstrap key.
  const changed = `${key}_changed`;
  const second = await startProduct({
    ...settings,
    BECKON_BOOTSTRAP_KEY: changed,
    BECKON_PROCESSES: "2",
  });
  expect((await call("/runs", { key: changed })).body.data).toHaveLength(1);
  expect((await call("/runs", { key })).status).toBe(401);
  // The paused agent is not printed, but its secrets stay, because they are valid.
  expect(second.output()).not.toMatch(/demo/i);
  expect(readdirSync(folder).sort()).toEqual(["demo.token", "demo.trigger"]);
  await call(`/agents/${demo.id}/resume`, { method: "POST", key: changed });
  expect((await hello()).status).toBe(200);
  expect((await call(`/agents/${demo.id}/token`, { key: changed })).body.data.token).toBe(
    demo.token,
  );
  expect(await second.stop()).toBe(0);
  expect(readdirSync(folder).sort()).toEqual(["demo.token", "demo.trigger"]);
});

test.each([
  ["without a master key", { DATABASE_URL: settings.DATABASE_URL }, "BECKON_MASTER_KEY"],
  [
    "with another master key",
    { ...settings, BECKON_MASTER_KEY: randomBytes(32).toString("base64") },
    "BECKON_MASTER_KEY",
  ],
  ["with a wrong port", { ...settings, PORT: "http" }, "PORT"],
  ["with a wrong URL", { ...settings, DATABASE_URL: "mysql://localhost/beckon" }, "DATABASE_URL"],
])(
  "startup %s fails at once with exit code 78 and the name of the setting",
  async (_what, env, named) => {
    const product = launch(env);
    expect(await product.exited).toBe(78);
    expect(product.output()).toMatch(/Beckon \S+ cannot start\./);
    expect(product.output()).toContain(named);
    expect(product.output()).not.toContain("mysql://");
  },
);

test("startup without a reachable database logs the error and retries until it is stopped", async () => {
  const product = launch({ ...settings, DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing" });
  await until("the reason of the wait", () =>
    /Waiting for PostgreSQL, at most 300 s\. Nothing listens at 127\.0\.0\.1:1\./.test(
      product.output(),
    ),
  );
  expect(product.output()).not.toContain(settings.BECKON_MASTER_KEY);
  expect(await product.stop()).toBe(0);
});

test("without a bootstrap key it says that there is no management key, and how to get one", async () => {
  const product = await startProduct({ ...settings, BECKON_SETUP_LINK: "0" });
  expect(product.output()).toContain("There is no management key, since BECKON_BOOTSTRAP_KEY");
  expect(product.output()).not.toContain("bks_");
  expect(await product.stop()).toBe(0);
});

test("after docs/operate.md's statements an ordinary login starts on what a superuser's login wrote", async () => {
  const login = `login_${randomBytes(4).toString("hex")}`;
  const asAdmin = async (...statements: string[]) => {
    const client = await openClient(settings.DATABASE_URL);
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  await asAdmin(
    `create role ${login} login password 'secret'`,
    `reassign owned by beckon_server to ${login}`,
    `alter database ${name} owner to ${login}`,
  );
  const DATABASE_URL = settings.DATABASE_URL.replace(/\/\/[^@]*@/, `//${login}:secret@`);
  const product = await startProduct({ ...settings, DATABASE_URL, BECKON_BOOTSTRAP_KEY: key });
  const call = caller(
    () => product.url,
    () => key,
  );
  expect((await call("/runs")).body.data).not.toEqual([]);
  expect((await call("/agents", { body: { name: "New", model: "demo/echo" } })).status).toBe(201);
  expect(await product.stop()).toBe(0);
  await asAdmin(
    `reassign owned by ${login} to current_user`,
    `drop owned by ${login}`,
    `drop role ${login}`,
  );
});
