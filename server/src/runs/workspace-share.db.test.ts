import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { type HeldModel, startHeldModel } from "../../test/held-model.ts";
import { allSucceeded, statesOf } from "../../test/runs-of.ts";
import { seedProcess, startOne } from "../../test/tenant.ts";
import { insertStranger } from "../../test/workspace-key.ts";
import { hashCredential } from "../base/secrets/index.ts";
import type { Beckon } from "../main.ts";
import { recordDeaths } from "../processes/process-store.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";

/** A server that executes no runs, so that the runs that it starts are queued. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const { database } = beckon.db;

interface TestAgent {
  readonly id: string;
  readonly token: string;
}

const { body } = await beckon.call("/agents", {
  credential: await insertStranger(beckon),
  body: { name: "Other", model: "demo/echo" },
});
/** An agent of another workspace. Its model responds at once. */
const other: TestAgent = body.data;

/** Starts a server with capacity for four runs, and stops it at the end of the test. */
async function startServer(): Promise<Beckon> {
  const settings = { BECKON_ROLE: "all", BECKON_MAX_RUNS: "4", BECKON_DRAIN_SECONDS: "0" };
  const server = await beckon.another({ settings });
  onTestFinished(() => server.stop());
  return server;
}

const invokeAt = (server: { readonly url: string }, agent: TestAgent, headers = {}) =>
  beckon.call(`${server.url}/api/public/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
    headers,
  });

/** Starts `count` runs of the agent at once. */
async function startRuns(server: { readonly url: string }, agent: TestAgent, count: number) {
  const started = await Promise.all(
    Array.from({ length: count }, () => invokeAt(server, agent, { prefer: "respond-async" })),
  );
  expect(started.map(({ status }) => status)).toEqual(started.map(() => 202));
}

/** Expects that runs of the other workspace start, although none of `agent` can end. */
async function expectOthersStart(server: Beckon, held: HeldModel): Promise<void> {
  const { length } = held.requests;
  for (const at of [server, beckon, server, beckon])
    expect((await invokeAt(at, other)).status).toBe(200);
  expect(held.requests).toHaveLength(length);
}

test.each([
  ["starts", "executes them", true],
  ["claims", "executes no runs", false],
])(
  "a process that %s the runs of one workspace keeps a quarter for others, if the process that got them %s",
  async (_how, _where, isExecuting) => {
    const server = await startServer();
    const held = await startHeldModel(beckon);
    const agent = await beckon.createAgent({ model: held.model });
    await startRuns(isExecuting ? server : beckon, agent, 10);
    await held.reached(3);
    await expectOthersStart(server, held);
    expect(await statesOf(beckon, agent.id)).toEqual({ running: 3, queued: 7 });
    held.release();
    await allSucceeded(beckon, agent.id, 10);
  },
);

test("runs of agents with a concurrency limit use the same share", async () => {
  const server = await startServer();
  const held = await startHeldModel(beckon);
  const limits = { max_concurrent_runs: 2 };
  const agents = await Promise.all(
    [1, 2, 3].map(() => beckon.createAgent({ model: held.model, limits })),
  );
  for (const agent of agents) await startRuns(server, agent, 3);
  await held.reached(3);
  await expectOthersStart(server, held);
  held.release();
  for (const agent of agents) await allSucceeded(beckon, agent.id, 3);
});

test("runs of dead processes are taken over beyond the share, and no others are started meanwhile", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const dead = await seedProcess(database);
  const seeded = {
    workspaceId: defaultWorkspaceId,
    agentId: agent.id,
    hash: hashCredential(agent.token),
  };
  for (let count = 0; count < 4; count++) await startOne(database, seeded, { owner: dead });
  await recordDeaths(database.engine, [dead], "");
  const server = await startServer();
  await held.reached(4);
  await startRuns(server, agent, 2);
  expect(await statesOf(beckon, agent.id)).toEqual({ running: 4, queued: 2 });
  held.release();
  await allSucceeded(beckon, agent.id, 6);
});
