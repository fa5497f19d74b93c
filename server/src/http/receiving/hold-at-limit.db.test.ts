import { afterAll, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { wrongWithLedger } from "../../../test/ledger.ts";
import { pricedWorkspace, type TestRates, wrongWithBudgets } from "../../../test/limits.ts";
import { held, says, startModelServer } from "../../../test/model-server.ts";
import { configureTrigger, unverified } from "../../../test/receiving-trigger.ts";
import { releaseHeld } from "../../runs/index.ts";

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;
const server = await startModelServer();
afterAll(() => server.close());
/** What each call of the scripted model costs, in micro-dollars. */
const callMicros = 300;
const answering = (completion_tokens: number, prompt_tokens = 1) =>
  says({ text: "done", usage: { prompt_tokens, completion_tokens } });
server.script(answering(callMicros));

const eventTypes = async (runId: string) => {
  const { rows } = await engine.query<{ type: string }>(
    "select type from events where run_id = $1 order by seq",
    [runId],
  );
  return rows.map(({ type }) => type);
};

/** Waits until a run that was created running is held, released and held again. */
async function heldTwice(runId: string): Promise<void> {
  const expected = ["run.started", "run.waiting", "run.queued", "run.resumed", "run.waiting"];
  const types = await eventually("the second hold", async () => {
    const found = await eventTypes(runId);
    return found.includes("run.failed") || found.length === expected.length ? found : undefined;
  });
  expect(types).toEqual(expected);
}

/**
 * Creates a workspace in which each model call costs `callMicros`, and a trigger that holds its
 * runs while a limit is spent.
 * @param rates default: input is free.
 */
async function holdingPriced(
  ceilingMicros: number,
  more: Record<string, unknown> = {},
  rates?: TestRates,
) {
  const workspace = await pricedWorkspace(beckon, server, rates);
  const agent = await workspace.agent({
    model_settings: { max_output_tokens: callMicros },
    limits: { max_concurrent_runs: 1 },
    ...more,
  });
  const trigger = await workspace.trigger(agent.id);
  await configureTrigger(engine, beckon.config.masterKey ?? "", trigger.id, {
    ...unverified,
    when_paused: "hold",
  });
  const ceiling = (micros: number) => workspace.ceiling("workspace", workspace.id, micros);
  await ceiling(ceilingMicros);
  const runOf = async (runId: string) => (await workspace.call(`/runs/${runId}`)).body.data;
  return {
    workspace,
    agent,
    trigger,
    ceiling,
    runOf,
    /** Sends a request to the trigger. @returns the id of the run. */
    async send(event = "Hello"): Promise<string> {
      const { body } = await beckon.call(trigger.url, { credential: null, body: event });
      return body.run_id;
    },
    ended: (runId: string) =>
      eventually(`the end of run ${runId}`, async () => {
        const run = await runOf(runId);
        return run.finished_at === null ? undefined : run;
      }),
  };
}

test("once a model call does not fit into what is left of a limit, runs are held until it is raised", async () => {
  const { workspace, ceiling, send, runOf, ended } = await holdingPriced(callMicros + 100);
  expect(await ended(await send())).toMatchObject({ status: "succeeded" });
  const rejected = await send();
  const isHeld = async (runId: string) =>
    expect(await runOf(runId)).toMatchObject({
      status: "waiting",
      started_at: null,
      finished_at: null,
      attempt: 1,
    });
  await eventually(
    "the hold",
    async () => (await runOf(rejected)).status === "waiting" || undefined,
  );
  const later = await send();
  await releaseHeld(beckon.db.database);
  for (const runId of [rejected, later]) await isHeld(runId);
  await ceiling(10 * callMicros);
  for (const runId of [rejected, later])
    expect(await ended(runId)).toMatchObject({
      status: "succeeded",
      attempt: 1,
      cost_micros: callMicros,
      usage: { output_tokens: callMicros },
    });
  // The agent has a concurrency limit, so its runs are queued first.
  expect(await eventTypes(rejected)).toEqual([
    "run.queued",
    "run.started",
    "run.waiting",
    "run.queued",
    "run.resumed",
    "run.step",
    "run.finished",
  ]);
  expect(await wrongWithBudgets(engine, workspace.id)).toEqual([]);
  expect(await wrongWithLedger(engine)).toEqual([]);
});

test("of runs that a limit holds, all that do not fit after the reset stay held until the next one", async () => {
  const { workspace, agent, send } = await holdingPriced(callMicros + 100);
  await engine.query("update budgets set spent = allowed where workspace_id = $1", [workspace.id]);
  // Until the second run shows that the limit is spent, at most 22 runs are released: the two that
  // are claimed, and 20 in the queue (`maxQueuedOfLimited`). So some of these 25 runs stay held.
  for (let count = 0; count < 25; count++) await send();
  await engine.query(
    "update budgets set starts = now() - interval '1 day', ends = now() where workspace_id = $1",
    [workspace.id],
  );
  const statuses = async () => {
    const { rows } = await engine.query<{ status: string; runs: number }>(
      "select status, count(*)::int as runs from runs where agent_id = $1 group by status",
      [agent.id],
    );
    return Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
  };
  const after = await eventually("the end of the first run", async () => {
    const found = await statuses();
    return found.succeeded && !found.queued && !found.running ? found : undefined;
  });
  expect(after).toEqual({ succeeded: 1, waiting: 24 });
  await releaseHeld(beckon.db.database);
  expect(await statuses()).toEqual(after);
  // Each run is released at most once for each reset.
  const { rows } = await engine.query<{ most: number }>(
    `select max(count)::int as most from (
        select count(*) from events e join runs r on r.id = e.run_id
        where r.agent_id = $1 and e.type = 'run.queued' group by e.run_id
      ) as released`,
    [agent.id],
  );
  expect(rows).toEqual([{ most: 1 }]);
});

test("a run that was created running is held too, and a person can cancel it without a bill", async () => {
  const { workspace, send, runOf, ended } = await holdingPriced(callMicros + 100, { limits: {} });
  expect(await ended(await send())).toMatchObject({ status: "succeeded" });
  const runId = await send();
  await eventually("the hold", async () => (await runOf(runId)).status === "waiting" || undefined);
  expect(await eventTypes(runId)).toEqual(["run.started", "run.waiting"]);
  await workspace.call(`/runs/${runId}/cancel`, {});
  const usage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };
  const cancelled = await runOf(runId);
  expect(cancelled).toMatchObject({ status: "cancelled", cost_micros: 0 });
  const end = (await workspace.call(`/runs/${runId}/events`)).body.data.at(-1);
  // Neither of them says that the usage is estimated.
  expect([cancelled.usage, end.data.usage]).toEqual([usage, usage]);
  expect(await wrongWithBudgets(engine, workspace.id)).toEqual([]);
});

test("a run that has called its model ends at the limit, and so does one whose call never fits", async () => {
  const { send, ended } = await holdingPriced(callMicros + 100, {
    tools: [{ type: "clock" }],
  });
  const usage = { prompt_tokens: 1, completion_tokens: callMicros };
  const asked = { id: "call", name: "clock", arguments: "{}" };
  server.script(says({ calls: [asked], usage }));
  onTestFinished(() => server.script(answering(callMicros)));
  const atLimit = { status: "failed", error: { code: "ceiling_reached" } };
  expect(await ended(await send())).toMatchObject({ ...atLimit, cost_micros: callMicros });
  // The smallest call needs 256 micro-dollars.
  const never = await holdingPriced(255);
  expect(await never.ended(await never.send())).toMatchObject({ ...atLimit, cost_micros: 0 });
});

test("held runs are queued although runs wait for what others have reserved of the limit", async () => {
  const { workspace, send, ended } = await holdingPriced(10 * callMicros);
  const set = (values: string) =>
    engine.query(`update budgets set ${values} where workspace_id = $1`, [workspace.id]);
  await set("spent = allowed");
  const runIds = [await send(), await send()];
  await set("spent = 0, waiter_seen_at = clock_timestamp() + interval '1 hour'");
  for (const runId of runIds) expect(await ended(runId)).toMatchObject({ status: "succeeded" });
});

test("a run whose time ends while others have reserved the limit is held, and queued once a minute", async () => {
  const { workspace, agent, send, runOf, ended } = await holdingPriced(1.5 * callMicros, {
    limits: {},
  });
  const released = Promise.withResolvers<void>();
  const calls = server.requests.length;
  server.script(held(released.promise, answering(callMicros / 2)));
  onTestFinished(() => server.script(answering(callMicros)));
  const reserving = await send();
  await eventually("the call", () => server.requests.length > calls || undefined);
  // The runs that start from now on have less time. The run that has reserved keeps its time.
  const limits = { timeout_seconds: 3 };
  await workspace.call(`/agents/${agent.id}`, { limits }, { method: "PATCH" });
  const runId = await send();
  await heldTwice(runId);
  await releaseHeld(beckon.db.database);
  expect(await runOf(runId)).toMatchObject({ status: "waiting", started_at: null });

  released.resolve();
  expect(await ended(reserving)).toMatchObject({ status: "succeeded" });
  await engine.query("update runs set released_at = now() - interval '61 seconds' where id = $1", [
    runId,
  ]);
  expect(await ended(runId)).toMatchObject({ status: "succeeded", attempt: 1 });
  expect(await wrongWithBudgets(engine, workspace.id)).toEqual([]);
  expect(await wrongWithLedger(engine)).toEqual([]);
});

test("a run whose large call does not fit is held too, while runs with smaller calls succeed", async () => {
  const rates = { input: 1_000_000, output: 1_000_000 };
  const { workspace, ceiling, send, runOf, ended } = await holdingPriced(
    130_000,
    { limits: {} },
    rates,
  );
  onTestFinished(() => server.script(answering(callMicros)));
  // Afterwards too little is left for a request of 100,000 bytes, but enough for one of 32,768.
  server.script(answering(1, 60_000));
  expect(await ended(await send())).toMatchObject({ status: "succeeded", cost_micros: 60_001 });
  server.script(answering(1));
  const large = await send("x".repeat(100_000));
  await heldTwice(large);
  expect(await ended(await send())).toMatchObject({ status: "succeeded" });
  expect((await workspace.call("/limits")).body.data).toMatchObject([{ reached: false }]);

  await ceiling(1_000_000);
  /** Sets when the run was queued last, and how often it was claimed. Then queues held runs. */
  const release = async (secondsAgo: number, claims: number) => {
    await engine.query(
      "update runs set released_at = now() - $2 * interval '1 second', fence = $3 where id = $1",
      [large, secondsAgo, claims],
    );
    await releaseHeld(beckon.db.database);
  };
  for (const [secondsAgo, claims] of [
    [0, 2],
    [61, 3],
    [500, 30],
  ] as const) {
    await release(secondsAgo, claims);
    expect(await runOf(large)).toMatchObject({ status: "waiting", started_at: null });
  }
  await release(601, 30);
  expect(await ended(large)).toMatchObject({ status: "succeeded", attempt: 1 });
  expect(await wrongWithBudgets(engine, workspace.id)).toEqual([]);
  expect(await wrongWithLedger(engine)).toEqual([]);
});

test("a replay that the ceiling of its key rejects fails, and is not held", async () => {
  const { workspace, agent, trigger, send, ended } = await holdingPriced(10 * callMicros);
  await ended(await send());
  const path = `/agents/${agent.id}/triggers/${trigger.id}/requests`;
  const [request] = (await workspace.call(path)).body.data;
  const [key] = (await workspace.call("/keys")).body.data;
  await workspace.ceiling("key", key.id, callMicros + 100);
  const replay = async () =>
    ended((await workspace.call(`${path}/${request.id}/replay`, {})).body.data.id);
  expect(await replay()).toMatchObject({ status: "succeeded" });
  expect(await replay()).toMatchObject({ status: "failed", error: { code: "ceiling_reached" } });
});

test("a limit of 0, at which a priced model call was rejected, does not hold runs of free models", async () => {
  const { workspace, agent, send, ended } = await holdingPriced(0);
  expect(await ended(await send())).toMatchObject({ error: { code: "ceiling_reached" } });
  await workspace.call(`/agents/${agent.id}`, { model: "demo/echo" }, { method: "PATCH" });
  expect(await ended(await send())).toMatchObject({ status: "succeeded" });
});
