import { Client } from "pg";
import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { databaseAt } from "../../../test/database-url.ts";
import { answered, brokenGuarantees, type Target, underLoad, wrong } from "../../../test/load.ts";
import { seedAgent } from "../../../test/tenant.ts";
import { ApiError } from "../errors.ts";
import { inWorkspace } from "./in-workspace.ts";

/** An error that nobody listens for would end the process; here it fails the run of the tests. */

const beckon = await startTestBeckon();
const { database, name } = beckon.db;
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

/** Ends all connections to this file's database but one's own. @returns how many. */
async function dropAll(): Promise<number> {
  const { rows } = await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
  );
  return rows.length;
}

test("all connections are dropped again and again under load: callers get right answers or 503, and nothing acknowledged is lost", async () => {
  const exchanges = await underLoad(target, async (so_far) => {
    for (let time = 0; time < 8; time++) {
      await answered(so_far, 50);
      expect(await dropAll()).toBeGreaterThan(0);
    }
    await answered(so_far, 50);
  });
  expect(wrong(exchanges)).toEqual([]);
  expect(await brokenGuarantees(database, exchanges)).toEqual([]);
});

test("idle connections that break are replaced: the next request is served", async () => {
  expect((await beckon.invoke(agent, "before")).status).toBe(200);
  await dropAll();
  // The server hears of it before the next request does, or with it; a start is sent again either way.
  expect(await beckon.invoke(agent, "after")).toMatchObject({
    status: 200,
    body: { output: "after" },
  });
  await dropAll();
  const answer = await beckon.call(`/agents/${agent.id}`);
  expect([200, 503]).toContain(answer.status);
  expect((await beckon.call(`/agents/${agent.id}`)).status).toBe(200);
});

test("a transaction whose connection breaks is refused as unavailable, and the next one works", async () => {
  const seeded = await seedAgent(database);
  const here = <T>(work: Parameters<typeof inWorkspace<T>>[2]) =>
    inWorkspace(database.tenant, seeded.workspaceId, work);
  const read = () => here((tx) => tx.selectFrom("agents").select("id").execute());
  const refused = here(async (tx) => {
    await tx.updateTable("agents").set({ name: "changed" }).execute();
    await dropAll();
    return tx.selectFrom("agents").selectAll().execute();
  });
  await expect(refused).rejects.toBeInstanceOf(ApiError);
  await expect(refused).rejects.toMatchObject({
    code: "unavailable",
    retryAfter: expect.any(Number),
  });
  expect(await read()).toHaveLength(1);

  // Between two statements, too, when nobody asks.
  const idle = here(async () => {
    await dropAll();
    await new Promise((resolve) => setImmediate(resolve));
  });
  await expect(idle).rejects.toMatchObject({ code: "unavailable" });
  expect(await read()).toHaveLength(1);
});

test("a connection of the engine's that breaks while it is held ends nothing but its own work", async () => {
  const client = await database.engine.connect();
  await client.query("begin");
  await dropAll();
  await expect(client.query("select 1")).rejects.toThrow();
  client.release(true);
  expect((await database.engine.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("when all connections are held up, callers are told 503 in time, and served as soon as they are free", {
  timeout: 20_000,
}, async () => {
  const holder = new Client({ connectionString: databaseAt(inject("server").adminUrl, name) });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query("begin");
  await holder.query("lock table runs, agents in access exclusive mode");
  // The few that hold the connections wait for their statement's own limit, which is longer than this test.
  const giveUp = new AbortController();
  const reads = Array.from({ length: 30 }, () =>
    beckon.call(`/agents/${agent.id}`, { signal: giveUp.signal }).catch(() => undefined),
  );
  const starts = Array.from({ length: 30 }, () => beckon.invoke(agent, "held up"));
  const answers = await Promise.all(starts);
  const most = [...reads].slice(beckon.config.poolSize);
  answers.push(...(await Promise.all(most)).filter((answer) => answer !== undefined));
  giveUp.abort();
  await Promise.all(reads);
  expect(answers).toHaveLength(60 - beckon.config.poolSize);
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 503, body: { ok: false, code: "unavailable" } });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  await holder.query("rollback");
  expect(await beckon.invoke(agent, "free again")).toMatchObject({
    status: 200,
    body: { output: "free again" },
  });
  expect(await brokenGuarantees(database, [])).toEqual([]);
});
