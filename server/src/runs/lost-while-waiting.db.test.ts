import { afterAll, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { heldTool } from "../../test/held-tool.ts";
import { entriesOf, wrongWithLedger } from "../../test/ledger.ts";
import { type PricedWorkspace, pricedWorkspace, wrongWithBudgets } from "../../test/limits.ts";
import {
  type Behaviour,
  blackHole,
  says,
  startModelServer,
  status,
} from "../../test/model-server.ts";
import { configureTrigger, unverified } from "../../test/receiving-trigger.ts";
import { eventTypesOf } from "../../test/runs-of.ts";
import { newId } from "../base/ids.ts";

/** Executes no runs, so runs are queued until a test starts a process that executes them. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const { engine } = beckon.db.database;
const server = await startModelServer();
afterAll(() => server.close());

const answered = says({ text: "done", usage: { prompt_tokens: 1, completion_tokens: 1 } });
const limitedFor = (seconds: number) =>
  status(429, { headers: { "retry-after": String(seconds) } });

/** Starts a process that executes runs. After it is declared dead, it owns no runs any more. */
async function startWorker({ settings, ...options }: Parameters<typeof beckon.another>[0] = {}) {
  const processId = newId("prc");
  const worker = await beckon.another({
    ...options,
    processId,
    settings: { BECKON_ROLE: "worker", ...settings },
  });
  onTestFinished(() => worker.stop());
  return { worker, processId };
}

/** Starts a run of an agent whose model behaves as scripted. Default: no ceiling applies. */
async function startRun(behaviours: readonly Behaviour[], ceilingMicros?: number) {
  server.reset();
  server.script(behaviours);
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent({ model_settings: { max_output_tokens: 1_000 } });
  if (ceilingMicros !== undefined) await workspace.ceiling("agent", agent.id, ceilingMicros);
  const lost = await startWorker();
  const started = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  const runId: string = started.body.run_id;
  return {
    lost,
    called: (count: number) =>
      eventually(`model call ${count}`, () => server.requests.length === count || undefined),
    ...observe(workspace, runId),
  };
}

/** Functions that wait for states of a run. */
function observe(workspace: PricedWorkspace, runId: string) {
  return {
    waits: () =>
      eventually("the record of the wait", async () => {
        const { rows } = await engine.query(
          "select from reservations where run_id = $1 and asked ? 'provider'",
          [runId],
        );
        return rows.length === 1 || undefined;
      }),
    async ended() {
      const run = await eventually("the end of the run", async () => {
        const { data } = (await workspace.call(`/runs/${runId}`)).body;
        return data.finished_at === null ? undefined : data;
      });
      expect(await wrongWithBudgets(engine, workspace.id)).toEqual([]);
      expect(await wrongWithLedger(engine)).toEqual([]);
      return { run, entries: await entriesOf(engine, runId) };
    },
  };
}

/** Declares a process dead and starts another one, which takes over its runs. */
async function replace(
  { processId }: { readonly processId: string },
  options?: Parameters<typeof startWorker>[0],
) {
  const next = await startWorker(options);
  await next.worker.recordDeaths([processId]);
  return next;
}

test.each([
  ["without limits", undefined],
  ["with a ceiling", 1_500],
])(
  "a process that is lost while a run waits for a rate limit leaves no estimate, %s",
  async (_, ceiling) => {
    const { lost, waits, ended } = await startRun([limitedFor(300), answered], ceiling);
    await waits();
    await replace(lost);
    const { run, entries } = await ended();
    expect(run).toMatchObject({ status: "succeeded", attempt: 2, usage: { output_tokens: 1 } });
    expect(entries).toMatchObject([{ outcome: "answered", estimated: false }]);
  },
);

test("a call that follows a wait is estimated if its process is lost", async () => {
  const { lost, called, ended } = await startRun([limitedFor(2), blackHole, answered]);
  await called(2);
  await replace(lost);
  const { run, entries } = await ended();
  expect(run).toMatchObject({ status: "succeeded", attempt: 2, usage: { estimated: true } });
  expect(entries).toMatchObject([
    { outcome: "lost", estimated: true },
    { outcome: "answered", estimated: false },
  ]);
});

test("a call of the next process is estimated if that process is lost, too", async () => {
  const { lost, called, waits, ended } = await startRun([limitedFor(300), blackHole, answered]);
  await waits();
  const next = await replace(lost);
  await called(2);
  await replace(next);
  const { entries } = await ended();
  expect(entries).toMatchObject([{ outcome: "lost", estimated: true }, { outcome: "answered" }]);
});

/**
 * Starts a run in a process without memory for it: a call of a tool holds all that the runs of the
 * workspace can use. When the wait is recorded, calls `act`, then replaces the process by one with
 * enough memory.
 * @param start starts the run of the agent, and returns its id.
 */
async function loseWithoutMemory(
  start: (workspace: PricedWorkspace, agent: { id: string; token: string }) => Promise<string>,
  act: (workspace: PricedWorkspace) => Promise<unknown> = async () => {},
) {
  server.reset();
  server.script(answered);
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent({ model_settings: { max_output_tokens: 1_000 } });
  await workspace.ceiling("agent", agent.id, 1_500);
  const held = heldTool();
  onTestFinished(() => held.release());
  // The runs of a workspace can use 45 MiB together.
  const settings = { BECKON_MEMORY_BUDGET_MIB: "96" };
  const lost = await startWorker({ settings, tools: [held.tool] });
  const filling = await workspace.agent({ model: "demo/echo" });
  const input = `/call hold {"kib": ${45 * 1024 - 40}}`;
  await beckon.invoke(filling, input, { prefer: "respond-async" });
  await held.called(1);
  const runId = await start(workspace, agent);
  const observed = observe(workspace, runId);
  await observed.waits();
  await act(workspace);
  await replace(lost, { tools: [held.tool] });
  held.release();
  return { runId, workspace, ...observed };
}

test("a process that is lost while a run waits for memory leaves no estimate", async () => {
  const { runId, ended } = await loseWithoutMemory(async (_, agent) => {
    const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
    return body.run_id;
  });
  const { run, entries } = await ended();
  expect(run).toMatchObject({ status: "succeeded", attempt: 2, usage: { output_tokens: 1 } });
  expect(entries).toMatchObject([{ outcome: "answered", estimated: false }]);
  expect(await eventTypesOf(beckon, runId)).not.toContain("run.step_lost");
});

test("a run is held at a limit that was spent while it waited for memory and its process was lost", async () => {
  const { runId, workspace } = await loseWithoutMemory(
    async (workspace, agent) => {
      const trigger = await workspace.trigger(agent.id);
      await configureTrigger(engine, beckon.config.masterKey ?? "", trigger.id, {
        ...unverified,
        when_paused: "hold",
      });
      const sent = await beckon.call(trigger.url, { credential: null, body: "Hello" });
      return sent.body.run_id;
    },
    ({ id }) => engine.query("update budgets set spent = allowed where workspace_id = $1", [id]),
  );
  const run = await eventually("the hold or the end", async () => {
    const { data } = (await workspace.call(`/runs/${runId}`)).body;
    return data.status === "waiting" || data.finished_at !== null ? data : undefined;
  });
  expect(run).toMatchObject({ status: "waiting", error: null });
  expect(await entriesOf(engine, runId)).toEqual([]);
});
