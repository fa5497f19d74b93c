// This file is long because all code paths that write an entry are tested with one server.
import type { NewEvent, TokenUsage } from "@beckon/contract";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { builtInPricer } from "../../test/built-in-pricer.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { entriesOf, wrongWithLedger } from "../../test/ledger.ts";
import { says, startModelServer, status } from "../../test/model-server.ts";
import { startProxy, statement } from "../../test/proxy.ts";
import {
  appendRow,
  seedAgent,
  seedProcess,
  seedWorkspace,
  startOne,
  succeeded,
} from "../../test/tenant.ts";
import { appendToRuns } from "../../test/write-runs.ts";
import { unknownPrice } from "../engine/index.ts";
import { digestOf, endByDigest } from "../engine/lost-run.ts";
import { type MeteredCall, spentBy } from "../engine/metered-call.ts";
import { recordDeaths } from "../processes/process-store.ts";
import { countSuspects } from "./claiming/abandoned-statement.ts";
import { endExhausted } from "./claiming/end-exhausted.ts";
import type { AppendRow } from "./journal/append-row.ts";
import { appendForDead } from "./journal/append-statement.ts";
import { toEntry } from "./journal/journal-entry.ts";
import { readJournal } from "./journal/journal-store.ts";

const beckon = await startTestBeckon();
const { database } = beckon.db;
const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());
const provider = await beckon.createProvider(server.url);
const owner = await seedProcess(database);

const entries = (runId: string) => entriesOf(database.engine, runId);
const wrong = () => wrongWithLedger(database.engine);

const call = (rest: Partial<MeteredCall> = {}): MeteredCall => ({
  kind: "model",
  step: 1,
  outcome: "answered",
  modelName: "vendor/some/model",
  usage: {
    input_tokens: 100,
    output_tokens: 20,
    cached_input_tokens: 30,
    cache_write_tokens: 40,
    reasoning_tokens: 5,
  },
  price: { micros: 7, standardMicros: 9, origin: "workspace" },
  ...rest,
});
/** Returns an append with an event `run.step_lost` that reports these calls, and the run's end. */
const withCalls = (
  run: Parameters<typeof appendRow>[0],
  calls: readonly MeteredCall[],
  rest: Partial<AppendRow> = {},
) => {
  const { usage, cost_micros } = spentBy(calls);
  const lost: NewEvent = {
    type: "run.step_lost",
    data: { step: 1, model: "vendor/some/model", usage, cost_micros, reason: "cancelled" },
  };
  return appendRow(run, owner, {
    entries: [
      toEntry(lost),
      toEntry({ type: "run.finished", data: { output: "done", usage, cost_micros } }),
    ],
    calls: calls.map((each) => ({ entry: 0, call: each })),
    transition: { ...succeeded, usage, costMicros: cost_micros },
    ...rest,
  });
};

describe("an entry", () => {
  test("has who started the run, the model, the counts and the price", async () => {
    const agent = await beckon.createAgent();
    const labels = { "beckon-tags": "blue,green" };
    const { body } = await beckon.invoke(agent, "Hello", labels);
    expect(await entries(body.run_id)).toEqual([
      {
        seq: 2,
        number: 1,
        workspace_id: expect.stringMatching(/^wsp_/),
        day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        agent_id: agent.id,
        source: "invoke",
        principal: `token:${agent.id}`,
        trigger_id: null,
        tags: ["blue", "green"],
        step: 1,
        attempt: 1,
        outcome: "answered",
        kind: "model",
        provider: "demo",
        model: "echo",
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
        cached_input_tokens: 0,
        cache_write_tokens: 0,
        reasoning_tokens: 0,
        voice_ms: 0,
        browser_ms: 0,
        cost_micros: 0,
        standard_cost_micros: 0,
        price_origin: "free",
        estimated: false,
      },
    ]);
    expect(await wrong()).toEqual([]);
  });

  test("names the trigger, the key or the member that started the run", async () => {
    const agent = await beckon.createAgent();
    const trigger = await beckon.createTrigger(agent.id);
    const fired = await beckon.call(trigger.url, { credential: null, body: "Hello" });
    const invoked = await beckon.call(`/agents/${agent.id}/invoke`, { body: { input: "Hello" } });
    const [ofTrigger] = await eventually("the entry of the fired run", async () => {
      const found = await entries(fired.body.run_id);
      return found.length > 0 ? found : undefined;
    });
    expect(ofTrigger).toMatchObject({
      source: "trigger",
      trigger_id: trigger.id,
      principal: `trigger:${trigger.id}`,
      tags: null,
    });
    expect(await entries(invoked.body.run_id)).toMatchObject([
      { source: "invoke", trigger_id: null, principal: expect.stringMatching(/^key:/) },
    ]);
  });

  test("is written for each attempt that reached the provider", async () => {
    server.script([status(429), status(500), says("hi")]);
    const agent = await beckon.createAgent({ model: `${provider.name}/some/model` });
    const { body } = await beckon.invoke(agent, "Hello");
    const nothing = { input_tokens: 0, output_tokens: 0, cost_micros: 0, price_origin: null };
    expect(await entries(body.run_id)).toMatchObject([
      { number: 1, outcome: "failed", ...nothing },
      { number: 2, outcome: "failed", ...nothing },
      {
        number: 3,
        outcome: "answered",
        provider: provider.name,
        model: "some/model",
        input_tokens: 10,
        output_tokens: 5,
        cost_micros: null,
        standard_cost_micros: null,
        estimated: false,
      },
    ]);
    const run = await beckon.call(`/runs/${body.run_id}`);
    expect(run.body.data.cost_micros).toBeNull();
    expect(await wrong()).toEqual([]);
  });

  test("is written for a run that fails without an answer", async () => {
    server.script(status(400));
    const agent = await beckon.createAgent({ model: `${provider.name}/model` });
    const { body } = await beckon.invoke(agent, "Hello");
    expect(await entries(body.run_id)).toMatchObject([{ seq: 2, outcome: "failed", step: 1 }]);
    expect((await beckon.call(`/runs/${body.run_id}`)).body.data).toMatchObject({
      usage: { input_tokens: 0 },
      cost_micros: 0,
    });
    expect(await wrong()).toEqual([]);
  });

  test("is not written if the connection was refused", async () => {
    // Nothing listens on this port, and the egress rules of tests allow calls to it.
    const down = await beckon.createProvider("http://127.0.0.1:9/v1", "down");
    const agent = await beckon.createAgent({
      model: `${down.name}/model`,
      limits: { timeout_seconds: 1 },
    });
    const { body } = await beckon.invoke(agent, "Hello");
    expect(body.ok).toBe(false);
    expect(await entries(body.run_id)).toEqual([]);
    expect((await beckon.call(`/runs/${body.run_id}`)).body.data.cost_micros).toBe(0);
  });

  test("has the local date of its workspace, which stays when the zone changes", async () => {
    const workspaceId = await seedWorkspace(database);
    const agent = await seedAgent(database, { workspaceId });
    const dayIn = async (zone: string) => {
      await database.engine.query("update workspaces set time_zone = $2 where id = $1", [
        workspaceId,
        zone,
      ]);
      const run = await startOne(database, agent, { owner });
      await appendToRuns(database, [withCalls(run, [call()])]);
      const { rows } = await database.engine.query<{ own: boolean }>(
        `select day = (time at time zone $2)::date as own from usage_entries where run_id = $1`,
        [run.runId, zone],
      );
      return { own: rows[0]?.own, day: (await entries(run.runId))[0]?.day, runId: run.runId };
    };
    const east = await dayIn("Pacific/Kiritimati");
    const west = await dayIn("Pacific/Niue");
    expect([east.own, west.own]).toEqual([true, true]);
    // These two time zones are 25 hours apart, so they have different dates at any time.
    expect(east.day).not.toBe(west.day);
    expect((await entries(east.runId))[0]?.day).toBe(east.day);
  });

  test("keeps all that a price and a provider report", async () => {
    const run = await startOne(database, await seedAgent(database), { owner });
    const lost = call({
      outcome: "lost",
      usage: { input_tokens: 3, output_tokens: 0, cached_input_tokens: 0, estimated: true },
      price: unknownPrice({ input_tokens: 3, output_tokens: 0, cached_input_tokens: 0 }),
    });
    await appendToRuns(database, [withCalls(run, [lost, call()])]);
    expect(await entries(run.runId)).toMatchObject([
      {
        seq: 2,
        number: 1,
        outcome: "lost",
        estimated: true,
        cost_micros: null,
        price_origin: null,
      },
      {
        seq: 2,
        number: 2,
        provider: "vendor",
        model: "some/model",
        input_tokens: 100,
        output_tokens: 20,
        cached_input_tokens: 30,
        cache_write_tokens: 40,
        reasoning_tokens: 5,
        cost_micros: 7,
        standard_cost_micros: 9,
        price_origin: "workspace",
        estimated: false,
      },
    ]);
    expect(await wrong()).toEqual([]);
  });
});

describe("an append", () => {
  test("that is repeated writes its entries once", async () => {
    const run = await startOne(database, await seedAgent(database), { owner });
    const row = withCalls(run, [call(), call()]);
    await appendToRuns(database, [row]);
    const first = await entries(run.runId);
    expect(first).toHaveLength(2);
    await appendToRuns(database, [row]);
    expect(await entries(run.runId)).toEqual(first);
    expect(await wrong()).toEqual([]);
  });

  test.each<[string, Partial<AppendRow>]>([
    ["another owner", { owner: "prc_other" }],
    ["an earlier fence", { fence: 0 }],
    ["an earlier last entry", { lastSeq: 0 }],
    ["a rejected intent", { unlessCancelled: true }],
  ])("with %s writes no entry", async (_what, rest) => {
    const run = await startOne(database, await seedAgent(database), { owner });
    await database.engine.query("update runs set cancel_requested_at = now() where id = $1", [
      run.runId,
    ]);
    expect(await appendToRuns(database, [withCalls(run, [call()], rest)])).not.toMatchObject([
      { kind: "written" },
    ]);
    expect(await entries(run.runId)).toEqual([]);
  });

  test("of a batch writes the entries of its own rows only", async () => {
    const agent = await seedAgent(database);
    const runs = await Promise.all(
      Array.from({ length: 12 }, () => startOne(database, agent, { owner })),
    );
    await appendToRuns(
      database,
      runs.map((run, index) =>
        withCalls(
          run,
          Array.from({ length: 1 + (index % 3) }, () => call({ step: index + 1 })),
          index % 4 === 3 ? { fence: 9 } : {},
        ),
      ),
    );
    for (const [index, run] of runs.entries()) {
      const expected = index % 4 === 3 ? 0 : 1 + (index % 3);
      expect(await entries(run.runId)).toMatchObject(
        Array.from({ length: expected }, (_, n) => ({ number: n + 1, step: index + 1 })),
      );
    }
    expect(await wrong()).toEqual([]);
  });

  test("whose reply is lost, of a whole run, leaves one entry for each step", async () => {
    const proxy = await startProxy(beckon.db.url);
    const far = await beckon.another({
      settings: { DATABASE_URL: proxy.urlFor(beckon.db.url), BECKON_DRAIN_SECONDS: "0" },
    });
    try {
      const agent = await beckon.createAgent();
      const invoke = () =>
        beckon.call(`${far.url}/api/public/agents/${agent.id}/invoke`, {
          credential: agent.token,
          body: { input: "/call clock {}" },
        });
      expect((await invoke()).status).toBe(200);
      for (const _ of [1, 2]) {
        const cut = proxy.cutNext({ request: statement("append"), pass: "nothing" });
        const { status: answered, body } = await invoke();
        await cut;
        expect(answered).toBe(200);
        expect(await entries(body.run_id)).toMatchObject([
          { step: 1, number: 1 },
          { step: 2, number: 1 },
        ]);
      }
      expect(await wrong()).toEqual([]);
    } finally {
      proxy.weather = { type: "fair" };
      proxy.drop();
      await far.stop();
      await proxy.close();
    }
  });
});

test("an answer that a lost process did not write becomes a flagged estimate, once", async () => {
  const agent = await seedAgent(database, { limits: { max_attempts: 1 } });
  const dying = await seedProcess(database);
  const run = await startOne(database, agent, { owner: dying });
  await recordDeaths(database.engine, [dying], owner);
  await countSuspects(database);
  await endExhausted({ database, pricer: builtInPricer }, 100);
  const ended = await entries(run.runId);
  expect(ended).toMatchObject([
    { seq: 2, number: 1, outcome: "lost", estimated: true, cost_micros: 0, price_origin: "free" },
  ]);
  // Simulates that the process was declared dead although it was alive, and now appends the
  // response that it got. Nothing is written, because it was declared dead and the run has ended.
  await appendToRuns(database, [withCalls(run, [call()], { owner: dying })]);
  await endExhausted({ database, pricer: builtInPricer }, 100);
  expect(await entries(run.runId)).toEqual(ended);
  expect(await wrong()).toEqual([]);
});

test("a process sums usage up when it becomes idle, also between sweeps", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const invoked = beckon.invoke(agent, "Hello");
  await held.reached(1);
  // The run lasts longer than one poll of the worker. Between sweeps, the worker sums usage up only
  // if one poll finds the process busy and the next one finds it idle.
  await eventually("a run of 1.5 seconds", async () => {
    const { rows } = await database.engine.query(
      "select from runs where agent_id = $1 and now() - started_at > interval '1.5 seconds'",
      [agent.id],
    );
    return rows.length || undefined;
  });
  held.release();
  expect((await invoked).status).toBe(200);
  const summedUp = async () => {
    const { rows } = await database.engine.query("select from usage_days where agent_id = $1", [
      agent.id,
    ]);
    return rows.length || undefined;
  };
  // Open transactions in other databases of this PostgreSQL server can delay the sums until the
  // worker's next sweep, which is about a minute later.
  await eventually("the sums of the agent", summedUp, 150_000);
  expect(await wrong()).toEqual([]);
});

test("the ledger outlives its runs, and no entry can be changed or deleted", async () => {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Hello");
  const before = await entries(body.run_id);
  expect((await beckon.call(`/runs/${body.run_id}`, { method: "DELETE" })).status).toBe(204);
  expect(await entries(body.run_id)).toEqual(before);
  for (const change of [
    "delete from usage_entries where run_id = $1",
    "update usage_entries set cost_micros = 1 where run_id = $1",
  ])
    await expect(database.engine.query(change, [body.run_id])).rejects.toMatchObject({
      code: "23001",
    });
});

const usage: fc.Arbitrary<TokenUsage> = fc.record(
  {
    input_tokens: fc.nat(100_000),
    output_tokens: fc.nat(100_000),
    cached_input_tokens: fc.nat(1_000),
    cache_write_tokens: fc.integer({ min: 1, max: 1_000 }),
    reasoning_tokens: fc.integer({ min: 1, max: 1_000 }),
    estimated: fc.constant(true),
  },
  { requiredKeys: ["input_tokens", "output_tokens", "cached_input_tokens"] },
);
const meteredCall: fc.Arbitrary<MeteredCall> = fc.record({
  kind: fc.constant("model" as const),
  step: fc.constant(1),
  outcome: fc.constantFrom("answered" as const, "failed" as const, "lost" as const),
  modelName: fc.constantFrom("a/b", "vendor/some/model"),
  usage,
  price: fc.record({
    micros: fc.option(fc.nat(1_000_000), { nil: null }),
    standardMicros: fc.option(fc.nat(1_000_000), { nil: null }),
    origin: fc.constantFrom("library" as const, "operator" as const, null),
  }),
});

/**
 * Steps of a run: the metered calls of each step, whether the step is lost (`run.step_lost`), and
 * whether its answer is large.
 */
const steps = fc.array(
  fc.record({
    calls: fc.array(meteredCall, { minLength: 1, maxLength: 3 }),
    lost: fc.boolean(),
    large: fc.boolean(),
  }),
  { maxLength: 4 },
);

test("the usage and the cost of a run are the sums of its entries, whether its process, another one or the last attempt ends it", async () => {
  const agent = await seedAgent(database, { limits: { max_attempts: 1 } });
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.constantFrom("appended" as const, "ended for the dead" as const, "exhausted" as const),
      fc.array(meteredCall, { maxLength: 2 }),
      async (written, end, last) => {
        const dying = await seedProcess(database);
        const run = await startOne(database, agent, { owner: dying });
        const events = written.map(({ calls, lost, large }, index): NewEvent => {
          const common = { step: index + 1, model: "vendor/some/model", ...spentBy(calls) };
          const text = large ? "x".repeat(70_000) : "x";
          return lost
            ? { type: "run.step_lost", data: { ...common, reason: "process_lost" } }
            : {
                type: "run.step",
                data: {
                  ...common,
                  parts: [
                    { type: "text", text },
                    { type: "tool_call", call_id: "c", tool: "act", arguments: "{}" },
                  ],
                  finish_reason: "tool_calls",
                  duration_ms: 1,
                  retries: calls.length - 1,
                },
              };
        });
        const calls = written.flatMap((write, entry) =>
          write.calls.map((each) => ({ entry, call: each })),
        );
        if (events.length > 0) {
          const row = appendRow(run, dying, { entries: events.map(toEntry), calls });
          await appendToRuns(database, [row]);
          await appendToRuns(database, [row]);
        }
        const lastSeq = 1 + events.length;
        if (end === "exhausted") {
          await recordDeaths(database.engine, [dying], owner);
          await countSuspects(database);
          await endExhausted({ database, pricer: builtInPricer }, 100);
        } else {
          const { outcome } = endByDigest(digestOf(events), {
            status: "failed",
            error: { code: "interrupted", message: "" },
          });
          const spent = spentBy([...written.flatMap((write) => write.calls), ...last]);
          const row = appendRow(run, dying, {
            lastSeq,
            entries: [toEntry({ type: "run.failed", data: { ...spent, error: failure } })],
            calls: last.map((each) => ({ entry: 0, call: each })),
            transition: { ...succeeded, usage: spent.usage, costMicros: spent.cost_micros },
          });
          if (last.length === 0)
            expect([outcome.usage, outcome.cost_micros]).toEqual([spent.usage, spent.cost_micros]);
          if (end === "appended") await appendToRuns(database, [row]);
          else {
            await recordDeaths(database.engine, [dying], owner);
            await appendForDead(database, [row]);
            await appendForDead(database, [row]);
          }
        }
        expect((await readJournal(database, run)).length).toBeGreaterThan(lastSeq);
        expect(await wrong()).toEqual([]);
      },
    ),
    { numRuns: 40 },
  );
});

const failure = { code: "interrupted" as const, message: "" };
