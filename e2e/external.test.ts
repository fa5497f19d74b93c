import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { testDatabase } from "../server/test/database.ts";
import { databaseAt } from "../server/test/database-url.ts";
import { caller } from "./call.ts";
import { freePort, launch, startProduct, stillRunning, temporaryFolder } from "./product.ts";

/**
 * With an external PostgreSQL, over TCP and as a superuser: Beckon must not write a data folder.
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

test("with DATABASE_URL it keeps all data in that database and needs no data folder", async () => {
  const first = await startProduct({ ...settings, BECKON_BOOTSTRAP_KEY: key });
  const call = caller(
    () => `http://127.0.0.1:${settings.PORT}`,
    () => key,
  );
  const demo = { id: first.printed("Demo agent"), token: first.printed("Its token") };
  const hello = () =>
    call(`/agents/${demo.id}/invoke`, { key: demo.token, body: { input: "Hello" } });
  expect((await hello()).body).toEqual({ ok: true, run_id: expect.any(String), output: "Hello" });
  expect(first.output()).not.toMatch(/Bootstrap key|PostgreSQL/);
  expect(first.output()).not.toContain(key);
  const started = first.descendants();
  expect(await first.stop()).toBe(0);
  expect(stillRunning(started, folder)).toEqual([]);

  // As on another machine with the same settings, except for the bootstrap key.
  const changed = `${key}_changed`;
  const second = await startProduct({
    ...settings,
    BECKON_BOOTSTRAP_KEY: changed,
    BECKON_PROCESSES: "2",
  });
  expect((await call("/runs", { key: changed })).body.data).toHaveLength(1);
  expect((await call("/runs", { key })).status).toBe(401);
  expect((await hello()).status).toBe(200);
  expect((await call(`/agents/${demo.id}/token`, { key: changed })).body.data.token).toBe(
    demo.token,
  );
  expect(await second.stop()).toBe(0);
  expect(existsSync(folder)).toBe(false);
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
    expect(product.output()).toContain("Beckon cannot start.");
    expect(product.output()).toContain(named);
    expect(product.output()).not.toContain("mysql://");
  },
);

test("startup without a reachable database logs the error and retries until it is stopped", async () => {
  const product = launch({ ...settings, DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing" });
  await expect.poll(product.output, { timeout: 10_000 }).toContain("ECONNREFUSED");
  expect(product.output()).not.toContain(settings.BECKON_MASTER_KEY);
  expect(await product.stop()).toBe(0);
});
