// This file is long because every entry point and every way to reach a limit are tested on one
// server, in the order in which they happen.
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Answer, startTestBeckon, type TestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { wrongWithLedger } from "../../test/ledger.ts";
import {
  budgetsOf,
  type PricedWorkspace,
  pricedWorkspace,
  wrongWithBudgets,
} from "../../test/limits.ts";
import { held, says, startModelServer, status } from "../../test/model-server.ts";
import { repeatUnavailable } from "../../test/repeat-unavailable.ts";
import { startTargetServer } from "../../test/target-server.ts";

/**
 * Tests limits as callers see them: over HTTP, with a model that costs a micro-dollar per output
 * token.
 */

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;
const server = await startModelServer();
afterAll(() => server.close());

/** Output tokens of each answer, and their cost in micro-dollars. */
const tokens = 300;
const answer = says({
  text: "done",
  usage: { prompt_tokens: 10, completion_tokens: tokens },
});
const bounded = { model_settings: { max_output_tokens: tokens } };

/**
 * Seconds until a local midnight. While the other tests run, `crossMidnight` starts runs before and
 * after that midnight. The last test checks the responses.
 */
const secondsToMidnight = 20;
const startedBefore = Promise.withResolvers<void>();
const overMidnight = crossMidnight(startedBefore.resolve);
overMidnight.catch(() => {});

beforeEach(() => {
  server.reset();
  server.script(answer);
});

const noViolations = async () => {
  expect(await wrongWithBudgets(engine)).toEqual([]);
  expect(await wrongWithLedger(engine)).toEqual([]);
};

type Agent = Awaited<ReturnType<PricedWorkspace["agent"]>>;

const invoke = (agent: Agent, headers: Record<string, string> = {}, of: TestBeckon = beckon) =>
  of.invoke(agent, "Hello", headers);

const readRun = async (workspace: PricedWorkspace, runId: string) =>
  (await workspace.call(`/runs/${runId}`)).body.data;

/** Resolves with the run once it has ended. */
const ended = (workspace: PricedWorkspace, runId: string) =>
  eventually(`the end of ${runId}`, async () => {
    const run = await readRun(workspace, runId);
    return run.finished_at === null ? undefined : run;
  });

/**
 * Midnight in the zone of the workspaces: twelve hours after the beginning of this hour, or of the
 * next one if that begins while these tests run.
 */
const midnight = expect.stringMatching(
  new RegExp(`T(${[12, 13].map(hoursFromNow).join("|")}):00:00\\.000Z$`),
);

function hoursFromNow(hours: number): string {
  return String((new Date().getUTCHours() + hours) % 24).padStart(2, "0");
}

interface Reached {
  readonly scope: string;
  readonly limit: number;
  readonly used?: number;
  /** What the call needs if it is more than the whole ceiling. */
  readonly needed?: number;
}

/** Expects the response to a start that a ceiling of `limit` micro-dollars rejects. */
function expectReached(
  { status: code, body, headers }: Answer,
  { scope, limit, used = limit, needed }: Reached,
): void {
  expect([code, body]).toEqual([
    500,
    {
      ok: false,
      error: expect.stringMatching(
        needed === undefined
          ? /^The daily ceiling of this \w+ is reached: .* try again after /
          : /^This model call can cost up to \S+, more than the whole daily ceiling of this \w+, \S+ Raise it with PUT [^ ,]+(, or send less)?\.$/,
      ),
      code: "ceiling_reached",
      run_id: expect.stringMatching(/^run_/),
      limit: {
        scope,
        scope_id: expect.any(String),
        metric: "cost",
        used,
        limit,
        ...(needed === undefined ? {} : { needed }),
        resets_at: midnight,
      },
    },
  ]);
  if (needed !== undefined) {
    expect(headers.get("retry-after")).toBeNull();
    return;
  }
  const respondedAt = Date.parse(headers.get("date") ?? "");
  const seconds = (Date.parse(body.limit.resets_at) - respondedAt) / 1_000;
  expect(Math.abs(Number(headers.get("retry-after")) - seconds)).toBeLessThan(5);
}

// The first tests keep the machine so busy that the starts before midnight could be too late.
await Promise.race([startedBefore.promise, overMidnight]);

describe("500 starts at once at a ceiling worth 10 runs", () => {
  const worth = 10;
  const starts = 500;

  /**
   * Invokes one run, which succeeds. Then starts all other runs at the same time, in turns by
   * invoke, by fire and by retries of the first run.
   * @returns the number of starts that were rejected without a run
   */
  async function startAll(
    workspace: PricedWorkspace,
    agent: Agent,
    beckons: readonly Pick<TestBeckon, "url">[],
  ): Promise<number> {
    const path = new URL((await workspace.trigger(agent.id)).url).pathname;
    const retried = await workspace.call(`/agents/${agent.id}/invoke`, { input: "Hello" });
    const answers = await Promise.all(
      Array.from({ length: starts }, (_, index) => {
        const at = beckons[index % beckons.length]?.url ?? beckon.url;
        const base = `${at}/api/public`;
        if (index % 3 === 0)
          return beckon.call(`${base}/agents/${agent.id}/invoke`, {
            credential: agent.token,
            body: { input: `Hello ${index}` },
          });
        if (index % 3 === 1)
          return beckon.call(`${at}${path}`, { credential: null, body: `Hello ${index}` });
        return repeatUnavailable(() =>
          beckon.call(`${base}/runs/${retried.body.run_id}/retry`, {
            credential: workspace.key,
            body: {},
          }),
        );
      }),
    );
    for (const { status: code } of answers) expect([200, 201, 500]).toContain(code);
    return answers.filter(({ status: code, body }) => code === 500 && !("run_id" in body)).length;
  }

  async function expectHeld(
    workspace: PricedWorkspace,
    agent: Agent,
    withoutRun: number,
  ): Promise<void> {
    await eventually(
      "the end of all runs",
      async () => {
        const { rows } = await engine.query(
          "select count(*)::int as open from runs where agent_id = $1 and finished_at is null",
          [agent.id],
        );
        return rows[0]?.open === 0 || undefined;
      },
      60_000,
    );
    const { rows } = await engine.query(
      `select r.status, e.error_code, count(*)::int as runs, sum(e.cost_micros)::int as cost
        from runs r join run_results e on e.run_id = r.id
        where r.agent_id = $1 group by 1, 2 order by 1, 2`,
      [agent.id],
    );
    const failed = starts + 1 - worth - withoutRun;
    expect(rows).toEqual([
      { status: "failed", error_code: "ceiling_reached", runs: failed, cost: 0 },
      { status: "succeeded", error_code: null, runs: worth, cost: worth * tokens },
    ]);
    expect(server.requests.length).toBe(worth);
    expect(await budgetsOf(engine, workspace.id)).toMatchObject({
      "agent cost": { spent: worth * tokens, reserved: 0 },
    });
    await noViolations();
  }

  test("serves exactly 10 on one process", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent(bounded);
    await workspace.ceiling("agent", agent.id, worth * tokens);
    await expectHeld(workspace, agent, await startAll(workspace, agent, [beckon]));
  });

  test("serves exactly 10 on two processes, in a workspace made a moment before", async () => {
    const other = await beckon.another();
    try {
      const workspace = await pricedWorkspace(beckon, server);
      const agent = await workspace.agent(bounded);
      await workspace.ceiling("workspace", workspace.id, 1_000_000);
      await workspace.ceiling("agent", agent.id, worth * tokens);
      await expectHeld(workspace, agent, await startAll(workspace, agent, [beckon, other]));
    } finally {
      await other.stop();
    }
  });

  test("leaves another agent, its workspace and other workspaces alone", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent(bounded);
    const neighbour = await workspace.agent({ ...bounded, name: "Neighbour" });
    const elsewhere = await pricedWorkspace(beckon, server);
    const stranger = await elsewhere.agent(bounded);
    await workspace.ceiling("workspace", workspace.id, 1_000_000);
    await workspace.ceiling("agent", agent.id, worth * tokens);
    const all = startAll(workspace, agent, [beckon]);
    for (let index = 0; index < 10; index++) {
      expect((await invoke(neighbour)).status).toBe(200);
      expect((await invoke(stranger)).status).toBe(200);
    }
    await all;
    await eventually("the end of all runs", async () => {
      const { rows } = await engine.query(
        "select count(*)::int as open from runs where agent_id = $1 and finished_at is null",
        [agent.id],
      );
      return rows[0]?.open === 0 || undefined;
    });
    expect(await budgetsOf(engine, workspace.id)).toEqual({
      "workspace cost": { spent: (worth + 10) * tokens, reserved: 0 },
      "agent cost": { spent: worth * tokens, reserved: 0 },
    });
    await noViolations();
  });
});

describe("at a ceiling that is reached", () => {
  async function reached(scope: "workspace" | "agent" | "key" | "trigger" = "agent") {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent(bounded);
    const trigger = await workspace.trigger(agent.id);
    const key = (await workspace.call("/keys", { name: "Shop", preset: "invoke" })).body.data;
    const ids = { workspace: workspace.id, agent: agent.id, key: key.id, trigger: trigger.id };
    const path = `/agents/${agent.id}/invoke`;
    const byKey = () => workspace.call(path, { input: "Hello" }, { credential: key.key });
    const fire = () => beckon.call(trigger.url, { credential: null, body: "Hello" });
    await workspace.ceiling(scope, ids[scope], tokens);
    const first =
      scope === "key" ? await byKey() : scope === "trigger" ? await fire() : await invoke(agent);
    expect(first.status).toBe(200);
    await ended(workspace, first.body.run_id);
    server.reset();
    server.script(answer);
    return { workspace, agent, trigger, byKey, fire, runId: first.body.run_id as string };
  }

  test("every entry point answers alike, and the model sees no call", async () => {
    const { workspace, agent, trigger, runId } = await reached();
    const expected = { scope: "agent", limit: tokens };
    expectReached(await invoke(agent), expected);
    expectReached(await invoke(agent, { prefer: "respond-async" }), expected);
    expectReached(await invoke(agent, { accept: "text/event-stream" }), expected);
    expectReached(await beckon.call(trigger.url, { credential: null, body: "Hello" }), expected);
    expectReached(await workspace.call(`/runs/${runId}/retry`, {}), expected);
    expectReached(
      await workspace.call(`/agents/${agent.id}/draft-runs`, { input: "Hello", config: {} }),
      expected,
    );
    expectReached(
      await workspace.call(`/agents/${agent.id}/triggers/${trigger.id}/test`, { payload: "Hello" }),
      expected,
    );
    expect(server.requests).toEqual([]);
    await noViolations();
  });

  test("the run is on record with the limit, in the response, its resource and its event", async () => {
    const { workspace, agent } = await reached();
    const rejected = await invoke(agent);
    const run = await readRun(workspace, rejected.body.run_id);
    const { error, limit } = rejected.body;
    expect(run).toMatchObject({
      status: "failed",
      started_at: null,
      error: { code: "ceiling_reached", message: error },
      limit,
      cost_micros: 0,
    });
    const { data } = (await workspace.call(`/runs/${run.id}/events`)).body;
    expect(data).toEqual([
      expect.objectContaining({
        type: "run.failed",
        data: expect.objectContaining({
          limit,
          error: { code: "ceiling_reached", message: error },
        }),
      }),
    ]);
  });

  test("the Idempotency-Key is not bound, so the request can be repeated after a raise", async () => {
    const { workspace, agent } = await reached();
    const headers = { "idempotency-key": "order-1" };
    const rejected = await invoke(agent, headers);
    expectReached(rejected, { scope: "agent", limit: tokens });
    const again = await invoke(agent, headers);
    expectReached(again, { scope: "agent", limit: tokens });
    expect(again.body.run_id).not.toBe(rejected.body.run_id);
    await workspace.ceiling("agent", agent.id, 2 * tokens);
    const served = await invoke(agent, headers);
    expect([served.status, served.headers.get("idempotency-replayed")]).toEqual([200, null]);
    const replayed = await invoke(agent, headers);
    expect(replayed.headers.get("idempotency-replayed")).toBe("true");
    expect(replayed.body).toEqual(served.body);
  });

  test("of the workspace, every caller is rejected", async () => {
    const { agent, byKey, fire } = await reached("workspace");
    for (const each of [await invoke(agent), await byKey(), await fire()])
      expectReached(each, { scope: "workspace", limit: tokens });
  });

  test("of a key, other callers are served", async () => {
    const { agent, byKey, fire } = await reached("key");
    expectReached(await byKey(), { scope: "key", limit: tokens });
    expect((await invoke(agent)).status).toBe(200);
    expect((await fire()).status).toBe(200);
  });

  test("of a trigger, other callers are served, and a retry of its runs is not", async () => {
    const { workspace, agent, byKey, fire, runId } = await reached("trigger");
    expectReached(await fire(), { scope: "trigger", limit: tokens });
    expectReached(await workspace.call(`/runs/${runId}/retry`, {}), {
      scope: "trigger",
      limit: tokens,
    });
    expect((await invoke(agent)).status).toBe(200);
    expect((await byKey()).status).toBe(200);
  });

  test("that pauses the agent, starts get 409 until it is raised", async () => {
    const { workspace, agent } = await reached();
    await workspace.ceiling("agent", agent.id, tokens, { pauses_agent: true });
    const paused = await invoke(agent);
    expect([paused.status, paused.body]).toEqual([
      409,
      expect.objectContaining({ code: "agent_paused", limit: expect.anything() }),
    ]);
    expect(Number(paused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await workspace.call(`/agents/${agent.id}`)).body.data).toMatchObject({
      paused: true,
      paused_by: "limit",
    });
    await workspace.ceiling("agent", agent.id, 2 * tokens, { pauses_agent: true });
    expect((await invoke(agent)).status).toBe(200);
  });

  test("a person's pause stays after a raise", async () => {
    const { workspace, agent } = await reached();
    await workspace.call(`/agents/${agent.id}/pause`, {});
    await workspace.ceiling("agent", agent.id, 2 * tokens, { pauses_agent: true });
    const paused = await invoke(agent);
    expect([paused.status, paused.headers.get("retry-after")]).toEqual([409, null]);
  });
});

describe("in mid-run", () => {
  const clock = says({
    calls: [{ id: "call", name: "clock", arguments: "{}" }],
    usage: { prompt_tokens: 10, completion_tokens: tokens },
  });

  test("a run that calls tools for ever stops at the ceiling, and keeps its journal", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent({
      ...bounded,
      tools: [{ type: "clock" }],
      limits: { max_steps: 1_000 },
    });
    await workspace.ceiling("agent", agent.id, 5 * tokens + 10);
    server.script(clock);
    const reached = await invoke(agent);
    expectReached(reached, { scope: "agent", limit: 5 * tokens + 10, used: 5 * tokens });
    expect(server.requests.length).toBe(5);
    const run = await readRun(workspace, reached.body.run_id);
    expect(run).toMatchObject({
      status: "failed",
      cost_micros: 5 * tokens,
      limit: reached.body.limit,
    });
    const { data } = (await workspace.call(`/runs/${run.id}/events?limit=200`)).body;
    const types = data.map(({ type }: { type: string }) => type);
    expect(types.filter((type: string) => type === "run.tool_result").length).toBe(5);
    expect(types.at(-1)).toBe("run.failed");
    await noViolations();
  });

  test("max_cost_micros ends a run without any other limit", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent({
      ...bounded,
      tools: [{ type: "clock" }],
      limits: { max_cost_micros: 2 * tokens },
    });
    server.script(clock);
    const { status: code, body, headers } = await invoke(agent);
    expect([code, body.code, body.limit]).toEqual([
      500,
      "ceiling_reached",
      {
        scope: "run",
        scope_id: body.run_id,
        metric: "cost",
        used: 2 * tokens,
        limit: 2 * tokens,
        resets_at: null,
      },
    ]);
    expect(headers.get("retry-after")).toBeNull();
    expect(server.requests.length).toBe(2);
    expect((await invoke(agent)).status).toBe(500);
    expect(server.requests.length).toBe(4);
  });

  test("a limit that is set while the run waits for its model holds from the next call on", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent({ ...bounded, tools: [{ type: "clock" }] });
    const released = Promise.withResolvers<void>();
    server.script(held(released.promise, clock));
    const running = invoke(agent);
    await eventually("the call", () => server.requests.length || undefined);
    await workspace.ceiling("agent", agent.id, tokens);
    released.resolve();
    expectReached(await running, { scope: "agent", limit: tokens });
    expect(server.requests.length).toBe(1);
    await noViolations();
  });

  test("a limit that is set while the run waits for a tool holds from the next call on", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const target = await startTargetServer();
    onTestFinished(() => target.close());
    const released = Promise.withResolvers<void>();
    target.answer = (_request, response) => void released.promise.then(() => response.end("{}"));
    const operation = { name: "read", description: "Reads", method: "GET", url: target.url };
    const agent = await workspace.agent({
      ...bounded,
      tools: [
        { type: "http", name: "slow", allowed_hosts: [target.host], operations: [operation] },
      ],
    });
    const read = { id: "call", name: "read", arguments: "{}" };
    server.script([
      says({ calls: [read], usage: { prompt_tokens: 10, completion_tokens: tokens } }),
      answer,
    ]);
    const running = invoke(agent);
    await eventually("the call of the tool", () => target.reached.length || undefined);
    await workspace.ceiling("agent", agent.id, tokens);
    released.resolve();
    expectReached(await running, { scope: "agent", limit: tokens });
    expect(server.requests.length).toBe(1);
    // Deletes the ceiling: more is spent than it allows, and checks of other tests would report it.
    await workspace.call(`/limits/agent/${agent.id}`, undefined, { method: "DELETE" });
    await noViolations();
  });

  test.each([null, 1_000_000])(
    "a limit that is set while an attempt fails holds from the next attempt on, with max_cost_micros %s",
    async (max_cost_micros) => {
      const workspace = await pricedWorkspace(beckon, server);
      const agent = await workspace.agent({ ...bounded, limits: { max_cost_micros } });
      const released = Promise.withResolvers<void>();
      server.script([held(released.promise, status(429)), answer]);
      const running = invoke(agent);
      await eventually("the call", () => server.requests.length || undefined);
      await workspace.ceiling("agent", agent.id, 1);
      released.resolve();
      expectReached(await running, { scope: "agent", limit: 1, used: 0, needed: 256 });
      expect(server.requests.length).toBe(1);
      await noViolations();
    },
  );

  test.each([null, 1_000_000])(
    "the first limit that is set while runs wait for a provider that is down holds from their next call on, with max_cost_micros %s",
    async (max_cost_micros) => {
      const workspace = await pricedWorkspace(beckon, server);
      const agent = await workspace.agent({ ...bounded, limits: { max_cost_micros } });
      const released = Promise.withResolvers<void>();
      // Three failures open the model's circuit breaker. The runs then wait, and one of them calls
      // the model to find out whether it is still down.
      const runs = 6;
      const failures = Array.from({ length: runs }, () => status(503));
      server.script([...failures, held(released.promise, answer)]);
      const running = Array.from({ length: runs }, () => invoke(agent));
      await eventually(
        "a call after the failures",
        () => server.requests.length > runs || undefined,
      );
      await workspace.ceiling("workspace", workspace.id, 1);
      const inProgress = server.requests.length - runs;
      released.resolve();
      const answers = await Promise.all(running);
      for (const each of answers.filter(({ status: code }) => code !== 200))
        expect(each.body.code).toBe("ceiling_reached");
      expect(answers.filter(({ status: code }) => code === 200)).toHaveLength(inProgress);
      expect(server.requests.length).toBe(runs + inProgress);
      // Deletes the ceiling: more is spent than it allows, and checks of other tests would report
      // it.
      await workspace.call(`/limits/workspace/${workspace.id}`, undefined, { method: "DELETE" });
      await noViolations();
    },
  );

  /**
   * Starts a run. Its first attempt at a model call fails without usage; a second attempt would get
   * a response. `set` sets a limit while the provider holds the first attempt.
   */
  async function duringAttempt(
    workspace: PricedWorkspace,
    set: (agent: Agent) => Promise<unknown>,
  ): Promise<Answer> {
    const agent = await workspace.agent(bounded);
    const released = Promise.withResolvers<void>();
    // The second attempt begins at least 300 ms after this response. This is enough time for the
    // process to learn of the limit.
    const failed = status(503, { headers: { "retry-after-ms": "300" } });
    server.script([held(released.promise, failed), answer]);
    const running = invoke(agent);
    await eventually("the call", () => server.requests.length || undefined);
    await set(agent);
    released.resolve();
    return running;
  }

  test("a further limit that is set while an attempt fails holds from the next attempt on", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    await workspace.ceiling("workspace", workspace.id, 1_000_000);
    const reached = await duringAttempt(workspace, ({ id }) => workspace.ceiling("agent", id, 1));
    expectReached(reached, { scope: "agent", limit: 1, used: 0, needed: 256 });
    expect(server.requests.length).toBe(1);
    await noViolations();
  });

  test("a new limit holds before all open transactions are counted in it", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const open = await engine.connect();
    await open.query("begin");
    let setting: Promise<void> | undefined;
    const reached = await duringAttempt(workspace, async ({ id }) => {
      setting = workspace.ceiling("agent", id, 1);
      await eventually(
        "the budget",
        async () => (await budgetsOf(engine, workspace.id))["agent cost"],
      );
    });
    await open.query("commit");
    open.release();
    await setting;
    expectReached(reached, { scope: "agent", limit: 1, used: 0, needed: 256 });
    expect(server.requests.length).toBe(1);
    await noViolations();
  });

  test("a limit whose message was lost holds from the next attempt on, once that is known", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const reached = await duringAttempt(workspace, async ({ id }) => {
      await engine.query(
        `insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, starts, ends)
          select w.id, $2, 'agent', 'cost', 1, p.starts, p.ends
          from workspaces w, period_of(now(), w.time_zone, 'day', 1) as p where w.id = $1`,
        [workspace.id, id],
      );
      // Sends a message of an unknown kind. Processes treat it like a lost connection: they assume
      // that messages of all kinds, such as `limits`, may have been lost.
      await engine.query("select pg_notify('beckon', 'another-process unknown')");
    });
    expectReached(reached, { scope: "agent", limit: 1, used: 0, needed: 256 });
    expect(server.requests.length).toBe(1);
    await noViolations();
  });
});

test.each([
  ["read from the cache", { cachedInput: 10_000_000 }, { cached_tokens: 50 }],
  [
    "written to the cache",
    { cacheWrite: 10_000_000 },
    { prompt_tokens_details: { cache_write_tokens: 50 } },
  ],
])("input that is dearer when it is %s never exceeds a limit", async (_, dearer, dearTokens) => {
  const rates = { input: 1_000_000, ...dearer, output: 0 };
  const workspace = await pricedWorkspace(beckon, server, rates);
  const agent = await workspace.agent(bounded);
  // This limit pays for the whole request at the price of uncached input, but only for 40 tokens at
  // the higher price.
  const limit = 400;
  await workspace.ceiling("agent", agent.id, limit);
  const usage = { prompt_tokens: 50, completion_tokens: 1, ...dearTokens };
  server.script(says({ text: "done", usage }));
  expectReached(await invoke(agent), { scope: "agent", limit, used: 0, needed: 600 });
  expect(server.requests).toEqual([]);
  await workspace.ceiling("agent", agent.id, 100 * limit);
  expect((await invoke(agent)).status).toBe(200);
  expect(await budgetsOf(engine, workspace.id)).toEqual({
    "agent cost": { spent: 500, reserved: 0 },
  });
  await noViolations();
});

describe("the output bound", () => {
  const sentBound = () => server.requests.map(({ body }) => body.max_tokens);

  test("is not sent without a limit, and is reserve_output_tokens with one", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent();
    expect((await invoke(agent)).status).toBe(200);
    await workspace.ceiling("agent", agent.id, 1_000_000);
    expect((await invoke(agent)).status).toBe(200);
    const other = await workspace.agent({ limits: { reserve_output_tokens: 500 } });
    await workspace.ceiling("agent", other.id, 1_000_000);
    expect((await invoke(other)).status).toBe(200);
    expect(sentBound()).toEqual([undefined, 16_384, 500]);
  });

  test("is not sent to a model that costs nothing if only limits in money apply", async () => {
    const workspace = await pricedWorkspace(beckon, server, { input: 0, output: 0 });
    const agent = await workspace.agent();
    await workspace.ceiling("workspace", workspace.id, 1_000_000);
    expect((await invoke(agent)).status).toBe(200);
    // The call of the second run is reserved when the run is started.
    expect((await invoke(agent)).status).toBe(200);
    const capped = await workspace.agent({ limits: { max_cost_micros: 1_000 } });
    expect((await invoke(capped)).status).toBe(200);
    expect(sentBound()).toEqual([undefined, undefined, undefined]);
  });

  test("is lowered to what is left, and a truncated answer then ends the run, billed", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent();
    await workspace.ceiling("agent", agent.id, 1_000);
    server.script(
      says({
        text: "cut",
        finish: "length",
        usage: { prompt_tokens: 10, completion_tokens: 1_000 },
      }),
    );
    const reached = await invoke(agent);
    expectReached(reached, { scope: "agent", limit: 1_000 });
    expect(sentBound()).toEqual([1_000]);
    const run = await readRun(workspace, reached.body.run_id);
    expect(run.cost_micros).toBe(1_000);
    const { data } = (await workspace.call(`/runs/${run.id}/events`)).body;
    // Whether the run was queued first depends on the load of this process.
    const types = data.map(({ type }: { type: string }) => type);
    expect(types.filter((type: string) => type !== "run.queued")).toEqual([
      "run.started",
      "run.step",
      "run.failed",
    ]);
    await noViolations();
  });

  test("that was not lowered leaves a truncated answer as it is without a limit", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent(bounded);
    await workspace.ceiling("agent", agent.id, 1_000_000);
    server.script(
      says({
        text: "cut",
        finish: "length",
        usage: { prompt_tokens: 10, completion_tokens: tokens },
      }),
    );
    const answered = await invoke(agent);
    expect([answered.status, answered.body.output]).toEqual([200, "cut"]);
  });

  test("with fewer than 256 tokens left, no call is made", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent();
    server.script(says({ text: "done", usage: { prompt_tokens: 10, completion_tokens: 20 } }));
    expect((await invoke(agent)).status).toBe(200);
    await workspace.ceiling("agent", agent.id, 20 + 255);
    const reached = await invoke(agent);
    expectReached(reached, { scope: "agent", limit: 20 + 255, used: 20 });
    expect(reached.body.error).toContain("the rest is not enough for another model call");
    await workspace.ceiling("agent", agent.id, 20 + 256);
    expect((await invoke(agent)).status).toBe(200);
    expect(sentBound()).toEqual([undefined, 256]);
  });

  test("cannot make a call fit that needs more than the whole ceiling, and the error says so", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent();
    await workspace.ceiling("agent", agent.id, 255);
    const reached = await invoke(agent);
    expectReached(reached, { scope: "agent", limit: 255, used: 0, needed: 256 });
    expect(reached.body.error).toContain("cost up to $0.000256, more than");
    expect((await readRun(workspace, reached.body.run_id)).limit).toEqual(reached.body.limit);
    const run = await workspace.agent({ ...bounded, limits: { max_cost_micros: 255 } });
    const { body } = await invoke(run);
    expect([body.error, body.limit.needed]).toEqual([
      "This model call can cost up to $0.000256, more than the maximum cost of a run, $0.000255. Raise the agent's limits.max_cost_micros, or send less.",
      256,
    ]);
    expect(server.requests.length).toBe(0);
  });
});

describe("a model without a known price", () => {
  test("is not called under a limit in money, until a price is set", async () => {
    const workspace = await pricedWorkspace(beckon, server, null);
    const agent = await workspace.agent(bounded);
    expect((await invoke(agent)).status).toBe(200);
    await workspace.ceiling("workspace", workspace.id, 1_000_000);
    const unknown = await invoke(agent);
    expect([unknown.status, unknown.body]).toEqual([
      500,
      {
        ok: false,
        error: expect.stringMatching(/prices.*BECKON_PRICES.*free/),
        code: "price_unknown",
        run_id: expect.stringMatching(/^run_/),
      },
    ]);
    expect(server.requests.length).toBe(1);
    await workspace.call("/prices", {
      model: workspace.model,
      input_micros_per_million: 0,
      output_micros_per_million: 1_000_000,
    });
    await eventually(
      "the price",
      async () => (await invoke(agent)).status === 200 || undefined,
      20_000,
    );
  });

  test("that is free is called at a ceiling of 0", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent({ model: "demo/echo" });
    const priced = await workspace.agent(bounded);
    await workspace.ceiling("workspace", workspace.id, 0);
    expect((await invoke(agent)).status).toBe(200);
    expectReached(await invoke(priced), { scope: "workspace", limit: 0, needed: 256 });
    expect(server.requests).toEqual([]);
  });
});

test.each(["invoke", "fire"])(
  "what a run can use is reserved together with its start by %s",
  async (by) => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent(bounded);
    await workspace.ceiling("workspace", workspace.id, 1_000_000);
    const { url } = await workspace.trigger(agent.id);
    const start = async (message: string): Promise<string> => {
      const { body } = await (by === "invoke"
        ? beckon.invoke(agent, message, { prefer: "respond-async" })
        : beckon.call(url, { credential: null, body: message }));
      return body.run_id;
    };
    // From the first run this process learns that the workspace has a limit, and how many bytes a
    // call has besides the message. Without both, it cannot reserve together with the start.
    await ended(workspace, await start("Hello"));
    const gate = Promise.withResolvers<void>();
    server.script(async (request, index) => {
      await gate.promise;
      return answer(request, index);
    });
    const runId = await start('Another message: "Grüße", 😀');
    await eventually("the call", () => server.requests.length === 2 || undefined);
    // `xmin` is the transaction that wrote a row last.
    const { rows } = await engine.query(
      `select v.xmin = i.xmin as is_of_start
      from reservations v join run_inputs i on i.run_id = v.run_id where v.run_id = $1`,
      [runId],
    );
    expect(rows).toEqual([{ is_of_start: true }]);
    gate.resolve();
    expect((await ended(workspace, runId)).status).toBe("succeeded");
    await noViolations();
  },
);

describe("a run that is rejected only by what is reserved", () => {
  /**
   * Creates an agent whose ceiling pays for one call at a time, and `count` runs of it. One of them
   * calls the model and the others wait. The returned `release(index)` lets the model answer the
   * call number `index`, counted from 0.
   */
  async function queue(count: number) {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent(bounded);
    await workspace.ceiling("agent", agent.id, tokens + 100);
    const gates: (() => void)[] = [];
    server.script(async (request, index) => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return says({ text: "done", usage: { prompt_tokens: 10, completion_tokens: 1 } })(
        request,
        index,
      );
    });
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      const started = await beckon.invoke(agent, `Hello ${index}`, { prefer: "respond-async" });
      expect(started.status).toBe(202);
      ids.push(started.body.run_id);
      const expected = index + 1;
      await eventually("the reservation", async () => {
        const { rows } = await engine.query(
          "select count(*)::int as count from reservations where agent_id = $1",
          [agent.id],
        );
        return rows[0]?.count === expected || undefined;
      });
    }
    const release = async (index: number) => {
      await eventually(`call ${index}`, () => gates[index] && true);
      gates[index]?.();
    };
    return { workspace, agent, ids, release };
  }

  test("waits, and is served in order and at once when it is returned", async () => {
    const { workspace, ids, release } = await queue(6);
    expect(await budgetsOf(engine, workspace.id)).toMatchObject({
      "agent cost": { spent: 0, reserved: tokens },
    });
    expect((await readRun(workspace, ids[5] ?? "")).status).toBe("running");
    const began = performance.now();
    for (let index = 0; index < ids.length; index++) await release(index);
    for (const id of ids) expect((await ended(workspace, id)).status).toBe("succeeded");
    // The five waiting runs were woken by a message: if they only polled, each would have waited up
    // to 5 s.
    expect(performance.now() - began).toBeLessThan(12_000);
    expect(server.requests.map(({ body }) => body.messages.at(-1)?.content)).toEqual(
      ids.map((_, index) => `Hello ${index}`),
    );
    await noViolations();
  });

  test("is woken by a raise", async () => {
    const { workspace, agent, ids, release } = await queue(3);
    await workspace.ceiling("agent", agent.id, 10 * tokens);
    await eventually("three calls", () => server.requests.length === 3 || undefined, 4_000);
    for (const index of ids.keys()) await release(index);
    for (const id of ids) expect((await ended(workspace, id)).status).toBe("succeeded");
    await noViolations();
  });

  test("can be cancelled, and then costs nothing", async () => {
    const { workspace, ids, release } = await queue(3);
    await workspace.call(`/runs/${ids[1]}/cancel`, {});
    const cancelled = await ended(workspace, ids[1] ?? "");
    expect(cancelled).toMatchObject({ status: "cancelled", cost_micros: 0 });
    await release(0);
    await release(1);
    expect((await ended(workspace, ids[2] ?? "")).status).toBe("succeeded");
    await noViolations();
  });

  test("says for which limit it waits, and ends at its deadline, without a bill", async () => {
    const { workspace, agent, ids, release } = await queue(1);
    // Only the next run gets this deadline. If the first run also had it, the first run would end
    // after 5 seconds, too, and the next run would call the model instead of waiting.
    await workspace.call(
      `/agents/${agent.id}`,
      { limits: { timeout_seconds: 5 } },
      { method: "PATCH" },
    );
    const waiting = invoke(agent);
    const runId = await eventually("the waiting run", async () => {
      const { rows } = await engine.query<{ run_id: string }>(
        "select run_id from reservations where agent_id = $1 and state = 'waiting'",
        [agent.id],
      );
      return rows[0]?.run_id;
    });
    const limit = {
      scope: "agent",
      scope_id: agent.id,
      metric: "cost",
      used: 0,
      limit: tokens + 100,
      resets_at: midnight,
    };
    expect(await readRun(workspace, runId)).toMatchObject({
      status: "running",
      waiting_for: { ...limit, reserved: tokens },
    });
    const { body, headers } = await waiting;
    expect(body).toEqual({
      ok: false,
      error: expect.stringMatching(
        /^The run did not finish within its time limit: it waited \d s because other runs had reserved the rest of the daily ceiling of this agent\. /,
      ),
      code: "deadline_exceeded",
      run_id: runId,
      limit,
    });
    expect(headers.get("retry-after")).toBeNull();
    const late = await readRun(workspace, runId);
    expect(late).toMatchObject({ error: { code: "deadline_exceeded" }, limit, cost_micros: 0 });
    expect(late).not.toHaveProperty("waiting_for");
    await release(0);
    await ended(workspace, ids[0] ?? "");
    await noViolations();
  });
});

test("failed attempts count, and each attempt is reserved", async () => {
  const workspace = await pricedWorkspace(beckon, server, { input: 1_000_000, output: 1_000_000 });
  const agent = await workspace.agent(bounded);
  await workspace.ceiling("agent", agent.id, 1_000_000);
  server.script([status(503), status(503), answer]);
  expect((await invoke(agent)).status).toBe(200);
  expect(server.requests.length).toBe(3);
  await noViolations();
});

test("a limit that begins with the next month of the plan limits nothing before", async () => {
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent(bounded);
  const small = { name: "small-from-next-month", tokens: 1, cost_micros: 1 };
  expect((await beckon.call("/plans", { body: small })).status).toBe(201);
  expect((await invoke(agent)).status).toBe(200);
  const moved = await beckon.call(`/workspace-plans/${workspace.id}`, {
    method: "PATCH",
    body: { plan: small.name, takes_effect: "period_end" },
  });
  expect(moved.body.data).toMatchObject({ next_plan: { plan: small.name } });
  expect((await invoke(agent)).status).toBe(200);
  expect((await invoke(agent)).status).toBe(200);
});

test("crossing 50, 80 and 100 percent writes one event each", async () => {
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent(bounded);
  await workspace.ceiling("agent", agent.id, 5 * tokens);
  for (let index = 0; index < 5; index++) expect((await invoke(agent)).status).toBe(200);
  expect((await invoke(agent)).status).toBe(500);
  // Events are listed only after all older transactions of the PostgreSQL server have ended,
  // including those of other tests.
  const data = await eventually("the last event", async () => {
    const { body } = await workspace.call("/events?kind=usage.threshold");
    return body.data.length >= 3 ? body.data : undefined;
  });
  expect(
    data.map((event: { data: object; agent_id: string }) => ({
      ...event.data,
      of: event.agent_id,
    })),
  ).toEqual(
    [
      [50, 3],
      [80, 4],
      [100, 5],
    ].map(([percent, runs]) => ({
      scope: "agent",
      scope_id: agent.id,
      metric: "cost",
      percent,
      used: (runs ?? 0) * tokens,
      limit: 5 * tokens,
      resets_at: midnight,
      of: agent.id,
    })),
  );
});

test("a provider that ignores the output bound exceeds a limit by calls in progress only", async () => {
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent(bounded);
  const atOnce = 4;
  await workspace.ceiling("agent", agent.id, atOnce * tokens);
  const released = Promise.withResolvers<void>();
  const written = 5 * tokens;
  const beyond = says({
    text: "far too long",
    usage: { prompt_tokens: 10, completion_tokens: written },
  });
  server.script(held(released.promise, beyond));
  const answers = Array.from({ length: 3 * atOnce }, () => invoke(agent));
  await eventually("the calls", () => server.requests.length === atOnce || undefined);
  await eventually("the runs that wait", async () => {
    const { rows } = await engine.query(
      "select count(*)::int as count from reservations where agent_id = $1",
      [agent.id],
    );
    return rows[0]?.count === 3 * atOnce || undefined;
  });
  released.resolve();
  const statuses = (await Promise.all(answers)).map(({ status: code }) => code).sort();
  expect(statuses).toEqual([
    ...Array<number>(atOnce).fill(200),
    ...Array<number>(2 * atOnce).fill(500),
  ]);
  expect((await invoke(agent)).status).toBe(500);
  expect(server.requests.length).toBe(atOnce);
  expect(await budgetsOf(engine, workspace.id)).toEqual({
    "agent cost": { spent: atOnce * written, reserved: 0 },
  });
  // Here more is spent than the ceiling allows. The ceiling is deleted, because the checks after
  // other tests would report it.
  await workspace.call(`/limits/agent/${agent.id}`, undefined, { method: "DELETE" });
});

test("spent budgets begin again once at midnight, and runs are served without a restart", async () => {
  const { answers, agent, workspace } = await overMidnight;
  const [first, rejected] = answers;
  expect(first?.status).toBe(200);
  const reset = Date.parse(rejected?.body.limit.resets_at);
  expect(Number(rejected?.headers.get("retry-after"))).toBeLessThanOrEqual(secondsToMidnight);
  // The first start was served and used up the ceiling. The later starts before the reset are
  // rejected. After the reset, only the first start is served.
  const served = answers.slice(1).filter(({ status: code }) => code === 200);
  expect(served.length).toBe(1);
  expect(served[0]?.answeredAt).toBeGreaterThanOrEqual(reset);
  const resets = answers
    .filter(({ status: code }) => code === 500)
    .map(({ body }) => Date.parse(body.limit.resets_at));
  expect([...new Set(resets)]).toEqual([reset, reset + 86_400_000]);
  const { rows } = await engine.query(
    `select count(*)::int as entries, sum(cost_micros)::int as cost from usage_entries
      where agent_id = $1 group by day order by day`,
    [agent.id],
  );
  expect(rows).toEqual([
    { entries: 1, cost: tokens },
    { entries: 1, cost: tokens },
  ]);
  expect(await budgetsOf(engine, workspace.id)).toEqual({
    "agent cost": { spent: tokens, reserved: 0 },
  });
});

/**
 * Starts runs before and after local midnight, at a ceiling that pays for one run.
 * @param onStarted called after the starts before midnight.
 */
async function crossMidnight(onStarted: () => void) {
  const ownServer = await startModelServer();
  try {
    ownServer.script(answer);
    const workspace = await pricedWorkspace(beckon, ownServer);
    const agent = await workspace.agent(bounded);
    await engine.query("update workspaces set time_zone = $2 where id = $1", [
      workspace.id,
      zoneWithMidnightIn(secondsToMidnight),
    ]);
    await workspace.ceiling("agent", agent.id, tokens);
    const answers: (Answer & { readonly answeredAt: number })[] = [];
    const start = async () => {
      const answered = await invoke(agent);
      answers.push({ ...answered, answeredAt: Date.now() });
      return answers.at(-1)?.status;
    };
    await start();
    await start();
    onStarted();
    const reset = Date.parse(answers[1]?.body.limit.resets_at);
    const nearly = () => Date.now() > reset - 1_000 || undefined;
    await eventually("the last second of the day", nearly, 30_000);
    await eventually("the reset", async () => (await start()) === 200 || undefined, 30_000);
    await start();
    return { answers, agent, workspace };
  } finally {
    await ownServer.close();
  }
}

/** Returns a POSIX time zone in which it is midnight in `seconds` seconds. */
function zoneWithMidnightIn(seconds: number): string {
  const sinceMidnight = Math.floor(Date.now() / 1_000) % 86_400;
  // In a POSIX time zone, local time = UTC - offset. The local time now must be 24:00:00 - seconds.
  const offset = (((sinceMidnight + seconds) % 86_400) + 86_400) % 86_400;
  const signed = offset > 43_200 ? offset - 86_400 : offset;
  const sign = signed < 0 ? "-" : "";
  const absolute = Math.abs(signed);
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(absolute / 3_600);
  return `<T>${sign}${hours}:${two(Math.floor(absolute / 60) % 60)}:${two(absolute % 60)}`;
}
