import { Client } from "pg";
import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { databaseAt } from "../../../test/database-url.ts";
import { answered, brokenGuarantees, type Target, underLoad, wrong } from "../../../test/load.ts";
import { seedAgent } from "../../../test/tenant.ts";
import { ApiError } from "../errors.ts";
import { createLog } from "../log.ts";
import { connect } from "./connect.ts";
import { inWorkspace } from "./in-workspace.ts";

/**
 * A lost connection emits the event "error". If Beckon had no listener for it, Node would throw an
 * uncaught exception, which makes these tests fail.
 */

const beckon = await startTestBeckon();
const { database, name, role } = beckon.db;
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const target: Target = {
  url: beckon.url,
  agentId: agent.id,
  agentToken: agent.token,
  triggerUrl: trigger.url,
};

const admin = new Client({ connectionString: databaseAt(inject("server").adminUrl, name) });
await admin.connect();
afterAll(() => admin.end());

/**
 * Terminates all other connections to this file's database.
 * @returns the number of these connections.
 */
async function dropAll(): Promise<number> {
  const { rows } = await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
  );
  return rows.length;
}

test("connections are dropped under load: responses are correct or 503, and no acknowledged write is lost", async () => {
  const exchanges = await underLoad(target, async (soFar) => {
    for (let time = 0; time < 8; time++) {
      await answered(soFar, 50);
      expect(await dropAll()).toBeGreaterThan(0);
    }
    await answered(soFar, 50);
  });
  expect(wrong(exchanges)).toEqual([]);
  expect(await brokenGuarantees(database, exchanges)).toEqual([]);
});

test("broken idle connections are replaced, and the next request succeeds", async () => {
  expect((await beckon.invoke(agent, "before")).status).toBe(200);
  await dropAll();
  // Beckon detects the broken connection before the next request or while it executes the request.
  // In both cases the start of the run is retried.
  expect(await beckon.invoke(agent, "after")).toMatchObject({
    status: 200,
    body: { output: "after" },
  });
  await dropAll();
  const response = await beckon.call(`/agents/${agent.id}`);
  expect([200, 503]).toContain(response.status);
  expect((await beckon.call(`/agents/${agent.id}`)).status).toBe(200);
});

test("a transaction whose connection breaks fails with unavailable, and the next one works", async () => {
  const seeded = await seedAgent(database);
  const here = <T>(work: Parameters<typeof inWorkspace<T>>[2]) =>
    inWorkspace(database.tenant, seeded.workspaceId, work);
  const read = () => here((tx) => tx.selectFrom("agents").select("id").execute());
  const rejected = here(async (tx) => {
    await tx.updateTable("agents").set({ name: "changed" }).execute();
    await dropAll();
    return tx.selectFrom("agents").selectAll().execute();
  });
  await expect(rejected).rejects.toBeInstanceOf(ApiError);
  await expect(rejected).rejects.toMatchObject({
    code: "unavailable",
    retryAfter: expect.any(Number),
    message: expect.not.stringMatching(/saved|Nothing/),
  });
  expect(await read()).toHaveLength(1);

  // The connection can also break between two statements. If the second one is the commit, it is
  // not known whether the change was saved. So the response must not have `Retry-After`, because
  // clients repeat every request that gets this header.
  const idle = here(async () => {
    await dropAll();
    await new Promise((resolve) => setImmediate(resolve));
  });
  await expect(idle).rejects.toMatchObject({
    code: "unavailable",
    retryAfter: undefined,
    message: expect.stringContaining("may have been saved"),
  });
  expect(await read()).toHaveLength(1);
});

test("a connection whose server is read-only is replaced, so writes work as soon as another server is primary", async () => {
  const seeded = await seedAgent(database);
  // The setting applies to new connections, as if they led to a standby.
  await admin.query(`alter database ${name} set default_transaction_read_only = on`);
  const standby = connect({ url: beckon.db.url, poolSize: 4, role, log: createLog("silent") });
  onTestFinished(() => standby.close());
  const rename = () =>
    inWorkspace(standby.tenant, seeded.workspaceId, (tx) =>
      tx.updateTable("agents").set({ name: "changed" }).execute(),
    );
  const record = () => standby.accounts.deleteFrom("sessions").where("id", "=", "none").execute();
  await expect(rename()).rejects.toMatchObject({ code: "unavailable" });
  await expect(record()).rejects.toThrow("read-only transaction");
  await admin.query(`alter database ${name} reset default_transaction_read_only`);
  await rename();
  await record();
});

test("a broken connection of the engine's pool affects only its own statement", async () => {
  const client = await database.engine.connect();
  await client.query("begin");
  await dropAll();
  await expect(client.query("select 1")).rejects.toThrow();
  client.release(true);
  expect((await database.engine.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("while all connections are blocked callers get 503 in time, and success afterwards", {
  timeout: 60_000,
}, async () => {
  const holder = new Client({ connectionString: databaseAt(inject("server").adminUrl, name) });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query("begin");
  await holder.query("lock table runs, agents in access exclusive mode");
  // At most the first `poolSize` reads get a connection. They wait for the lock until their
  // statement timeout, which is longer than this test, so they are aborted. Only the other reads
  // are checked.
  const giveUp = new AbortController();
  const reads = Array.from({ length: 30 }, () =>
    beckon.call(`/agents/${agent.id}`, { signal: giveUp.signal }).catch(() => undefined),
  );
  const starts = Array.from({ length: 30 }, () => beckon.invoke(agent, "held up"));
  const responses = await Promise.all(starts);
  // Which of the two messages a caller gets depends on whether its statement had been sent to the
  // database.
  const states =
    /Nothing was started; try again|may have been started; Beckon cancels it if it can/;
  for (const { body } of responses) expect(body.error).toMatch(states);
  const most = [...reads].slice(beckon.config.poolSize);
  responses.push(...(await Promise.all(most)).filter((response) => response !== undefined));
  giveUp.abort();
  await Promise.all(reads);
  expect(responses).toHaveLength(60 - beckon.config.poolSize);
  for (const response of responses) {
    expect(response).toMatchObject({ status: 503, body: { ok: false, code: "unavailable" } });
    const isUnconfirmed = response.body.error.includes("may have been started");
    expect(Number(response.headers.get("retry-after")) > 0).toBe(!isUnconfirmed);
  }
  await holder.query("rollback");
  expect(await beckon.invoke(agent, "free again")).toMatchObject({
    status: 200,
    body: { output: "free again" },
  });
  expect(await brokenGuarantees(database, [])).toEqual([]);
});
