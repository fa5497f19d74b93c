import { afterAll, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { entriesOf, wrongWithLedger } from "../../test/ledger.ts";
import { pricedWorkspace, wrongWithBudgets } from "../../test/limits.ts";
import {
  type Behaviour,
  blackHole,
  says,
  startModelServer,
  status,
} from "../../test/model-server.ts";
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
async function startWorker() {
  const processId = newId("prc");
  const worker = await beckon.another({ processId, settings: { BECKON_ROLE: "worker" } });
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
    runId,
    lost,
    called: (count: number) =>
      eventually(`model call ${count}`, () => server.requests.length === count || undefined),
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
async function replace({ processId }: { readonly processId: string }) {
  const next = await startWorker();
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
