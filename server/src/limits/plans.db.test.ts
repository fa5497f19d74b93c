// This file is long because all tests of plans share one server and its file of plans.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { addUsage, type GivenEntry, sumUpTo } from "../../test/add-usage.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { executedStatements } from "../../test/executed-statements.ts";
import { expectError } from "../../test/expect-error.ts";
import { wrongWithBudgets } from "../../test/limits.ts";
import { addPerson } from "../../test/people.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";
import { newId } from "../base/ids.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";
import { applyNextPlans, readOperatorPlans } from "./index.ts";

const folder = await mkdtemp(join(tmpdir(), "beckon-plans-"));
afterAll(() => rm(folder, { recursive: true }));

/** Writes an operator's file with these plans and returns its path. */
async function planFile(plans: object): Promise<string> {
  const path = join(folder, `${newId("pln")}.json`);
  await writeFile(path, JSON.stringify({ plans }));
  return path;
}

const file = await planFile({ business: { tokens: 1_000_000, cost: 50 }, "a.b": {} });
// No test in this file starts a run, so the process has the role `api`, which executes no runs.
const beckon = await startTestBeckon({ BECKON_PLANS: file, BECKON_ROLE: "api" });
const { database } = beckon.db;
const { engine } = database;

let number = 0;
async function createPlan(allowances: object): Promise<{ id: string; name: string }> {
  const body = { name: `plan-${++number}`, ...allowances };
  const answer = await beckon.call("/plans", { body });
  expect(answer.status).toBe(201);
  return answer.body.data;
}

/**
 * Does what the worker does once a minute. Returns the ids of the workspaces that changed.
 * @param stopping is aborted after the first transaction
 */
async function applyDueChanges(stopping?: AbortController): Promise<string[]> {
  const changed = new Set<string>();
  const limits = {
    operatorPlans: await readOperatorPlans(file),
    operatorWorkspaceId: defaultWorkspaceId,
    changed(workspaceIds: readonly string[]) {
      for (const id of workspaceIds) changed.add(id);
      stopping?.abort();
    },
  };
  await applyNextPlans(database, limits, (stopping ?? new AbortController()).signal);
  return [...changed];
}

/**
 * Creates a workspace with a key that has every scope. `spend` adds usage of an agent id that
 * belongs to no agent, and `sumUp` sums it up by day.
 */
async function newWorkspace() {
  const { id, key } = (await beckon.call("/workspaces", { body: { name: "Test" } })).body.data;
  const agentId = newId("agt");
  const move = (plan: string, more: object = {}) =>
    beckon.call(`/workspace-plans/${id}`, { method: "PATCH", body: { plan, ...more } });
  const usage = async () => (await beckon.call("/plan", { credential: key })).body.data;
  const metrics = async () =>
    Object.fromEntries(
      (await usage()).metrics.map((each: { metric: string }) => [each.metric, each]),
    );
  // The server sums up entries once a minute, but not those whose transaction id is in the future.
  // So these entries are summed up only when a test calls `sumUp`.
  const transaction = Number.MAX_SAFE_INTEGER - 1;
  const spend = (...entries: GivenEntry[]) =>
    addUsage(
      database,
      { workspaceId: id, agentId },
      ...entries.map((entry) => ({ ...entry, transaction })),
    );
  const sumUp = () => sumUpTo(database, id, Number.MAX_SAFE_INTEGER);
  const budgets = async () =>
    (
      await engine.query(
        "select metric, allowed::int, next_allowed::int as next from budgets where workspace_id = $1 and scope_kind = 'plan' order by metric",
        [id],
      )
    ).rows;
  /** Makes the current month of the plan end now. */
  const endMonth = () =>
    engine.query(
      "update budgets set starts = now() - interval '28 days', ends = now() where workspace_id = $1 and scope_kind = 'plan'",
      [id],
    );
  /** Makes the last change of the time zone an old one. */
  const age = () =>
    engine.query(
      "update workspaces set time_zone_changed_at = now() - interval '60 days' where id = $1",
      [id],
    );
  const change = (body: object) =>
    beckon.call(`/workspaces/${id}`, { method: "PATCH", credential: key, body });
  return { id, key, change, move, usage, metrics, spend, sumUp, budgets, endMonth, age };
}

describe("plans", () => {
  test("the list has the built-in plan, those of the file and those of the database, by name", async () => {
    const { id, name } = await createPlan({ tokens: 5, voice_ms: 7 });
    const plans = (await beckon.call("/plans?limit=200")).body.data;
    const names = plans.map((each: { name: string }) => each.name);
    expect(names).toEqual(names.toSorted());
    expect(plans).toEqual(
      expect.arrayContaining([
        {
          id: null,
          name: "unlimited",
          origin: "built_in",
          tokens: null,
          voice_ms: null,
          browser_ms: null,
          cost_micros: null,
          created_at: null,
          updated_at: null,
        },
        expect.objectContaining({
          id: null,
          name: "business",
          origin: "operator",
          tokens: 1_000_000,
          cost_micros: 50_000_000,
        }),
        expect.objectContaining({ id, name, origin: "api", tokens: 5, voice_ms: 7 }),
      ]),
    );
    let paged: string[] = [];
    for (let after = ""; ; ) {
      const { data, next } = (await beckon.call(`/plans?limit=1${after}`)).body;
      paged = [...paged, ...data.map((each: { name: string }) => each.name)];
      if (next === null) break;
      after = `&after=${next}`;
    }
    expect(paged).toEqual(names);
  });

  test("a plan can be read, changed and deleted", async () => {
    const { id } = await createPlan({ tokens: 5 });
    const path = `/plans/${id}`;
    expect((await beckon.call(path)).body.data.tokens).toBe(5);
    const changed = await beckon.call(path, {
      method: "PATCH",
      body: { tokens: null, cost_micros: 9 },
    });
    expect(changed.body.data).toMatchObject({ tokens: null, cost_micros: 9, voice_ms: null });
    expect((await beckon.call(path, { method: "DELETE" })).status).toBe(204);
    expectError(await beckon.call(path), 404, "not_found", /no plan with this id/);
  });

  test.each(["unlimited", "business"])("the name %s is in use", async (name) => {
    expectError(await beckon.call("/plans", { body: { name } }), 409, "conflict", /Choose another/);
  });

  test("two plans cannot have the same name", async () => {
    const { name } = await createPlan({});
    expectError(await beckon.call("/plans", { body: { name } }), 409, "conflict", /Choose another/);
  });

  test.each([
    [{ name: "Team" }, /name must be 1 to 63/],
    [{ name: "x", tokens: -1 }, /tokens must be at least 0/],
    [{ name: "x", cost_micros: 0.5 }, /cost_micros must be a whole number/],
    [{ name: "x", voice_seconds: 1 }, /unknown field voice_seconds/],
  ])("rejects %j", async (body, text) => {
    expectError(await beckon.call("/plans", { body }), 400, "bad_request", text);
  });

  test("the name of a plan cannot be changed", async () => {
    const { id } = await createPlan({});
    const answer = await beckon.call(`/plans/${id}`, { method: "PATCH", body: { name: "other" } });
    expectError(answer, 400, "bad_request", /unknown field name/);
  });

  test("a plan that a workspace is on or changes to cannot be deleted", async () => {
    const { id, move } = await newWorkspace();
    const plan = await createPlan({ tokens: 5 });
    const remove = () => beckon.call(`/plans/${plan.id}`, { method: "DELETE" });
    await move(plan.name);
    expectError(await remove(), 409, "conflict", new RegExp(id));
    await move("business");
    await move(plan.name, { takes_effect: "period_end" });
    expectError(await remove(), 409, "conflict", new RegExp(id));
    await move("unlimited");
    expect((await remove()).status).toBe(204);
  });

  test("a change applies at once to the workspaces on the plan", async () => {
    const one = await newWorkspace();
    const plan = await createPlan({ tokens: 1_000 });
    await one.move(plan.name);
    await one.spend({ input_tokens: 300, output_tokens: 50, voice_ms: 40 });
    const other = await newWorkspace();
    await other.move("business");
    await beckon.call(`/plans/${plan.id}`, {
      method: "PATCH",
      body: { tokens: 2_000, voice_ms: 100 },
    });
    expect(await one.metrics()).toMatchObject({
      tokens: { allowance: 2_000 },
      voice: { allowance: 100, used: 40, left: 60 },
    });
    expect((await other.metrics()).tokens.allowance).toBe(1_000_000);
    await beckon.call(`/plans/${plan.id}`, { method: "PATCH", body: { voice_ms: null } });
    expect(await one.budgets()).toEqual([{ metric: "tokens", allowed: 2_000, next: null }]);
  });

  test("a change reads and writes the plans of many workspaces with as many statements as of one", async () => {
    const plan = await createPlan({ tokens: 100 });
    const statements = async (tokens: number) => {
      const executed = await executedStatements(() =>
        beckon.call(`/plans/${plan.id}`, { method: "PATCH", body: { tokens } }),
      );
      return executed.filter((text) => /plan_anchor|from "?plans/.test(text)).length;
    };
    const first = await newWorkspace();
    await first.move(plan.name);
    const one = await statements(90);
    expect(one).toBeGreaterThan(2);
    const others = await Promise.all(Array.from({ length: 5 }, newWorkspace));
    for (const { move } of others) await move(plan.name);
    expect(await statements(80)).toBe(one);
    for (const { budgets } of [first, ...others])
      expect(await budgets()).toEqual([{ metric: "tokens", allowed: 80, next: null }]);
  });

  test("a change of a plan with more than 20 workspaces takes several transactions", async () => {
    const plan = await createPlan({ tokens: 100 });
    const ids = Array.from({ length: 21 }, () => newId("wsp"));
    await engine.query(
      "insert into workspaces (id, name, plan) select id, 'Test', $2 from unnest($1::text[]) as id",
      [ids, plan.name],
    );
    const executed = await executedStatements(async () => {
      const body = { tokens: 90 };
      const answer = await beckon.call(`/plans/${plan.id}`, { method: "PATCH", body });
      expect(answer.status).toBe(200);
    });
    expect(executed.filter((text) => text.includes("beckon.plans"))).toHaveLength(2);
    const { rows } = await engine.query(
      "select from budgets where workspace_id = any ($1) and metric = 'tokens' and allowed = 90",
      [ids],
    );
    expect(rows).toHaveLength(21);
  });

  test("planned changes of more than 20 workspaces take several transactions", async () => {
    const plan = await createPlan({ tokens: 100 });
    const ids = Array.from({ length: 41 }, () => newId("wsp"));
    await engine.query(
      "insert into workspaces (id, name, next_plan) select id, 'Test', $2 from unnest($1::text[]) as id",
      [ids, plan.name],
    );
    // A process that stops leaves the rest to others.
    expect(await applyDueChanges(new AbortController())).toHaveLength(20);
    const executed = await executedStatements(() => applyDueChanges());
    expect(executed.filter((text) => text.includes("beckon.plans"))).toHaveLength(2);
    const { rows } = await engine.query(
      "select from workspaces where id = any ($1) and plan = $2 and next_plan is null",
      [ids, plan.name],
    );
    expect(rows).toHaveLength(41);
  });

  test.each(["admin", "editor", "viewer"] as const)(
    "an %s cannot see or change plans",
    async (role) => {
      const person = await addPerson(beckon, { role });
      expectError(await person.call("/plans"), 403, "forbidden", /plans:write/);
      expectError(await person.call("/workspace-plans"), 403, "forbidden", /plans:write/);
      const path = `/workspace-plans/${defaultWorkspaceId}`;
      const answer = await person.call(path, { method: "PATCH", body: { plan: "unlimited" } });
      expectError(answer, 403, "forbidden", /plans:write/);
      expect((await person.call("/plan")).status).toBe(200);
    },
  );

  test.each(["the plan", "the plan of a workspace and its anchor day"])(
    "a change of %s sums up what was used before it locks the budgets that charges wait for",
    async (what) => {
      const plan = await createPlan({ tokens: 500 });
      const other = await createPlan({ tokens: 500, cost_micros: 9 });
      const { id, move } = await newWorkspace();
      await move(plan.name);
      const anchor = new Date().getUTCDate() === 15 ? 14 : 15;
      const change = () =>
        what === "the plan"
          ? beckon.call(`/plans/${plan.id}`, { method: "PATCH", body: { cost_micros: 9 } })
          : move(other.name, { anchor_day: anchor });
      const client = await engine.connect();
      try {
        await client.query("begin");
        await client.query("lock table usage_entries in access exclusive mode");
        const changed = change();
        await eventually("the sum of the ledger", async () => {
          const { rows } = await engine.query(
            `select from pg_locks where not granted and relation = 'usage_entries'::regclass
            and database = (select oid from pg_database where datname = current_database())`,
          );
          return rows.length || undefined;
        });
        const { rows } = await engine.query(
          "select metric from budgets where workspace_id = $1 for update skip locked",
          [id],
        );
        expect(rows).toEqual([{ metric: "tokens" }]);
        await client.query("commit");
        expect((await changed).status).toBe(200);
      } finally {
        await client.query("rollback");
        client.release();
      }
    },
  );

  test("an owner of another workspace cannot see or change plans", async () => {
    const credential = await insertStranger(beckon);
    const { id } = await createPlan({});
    const call = (path: string, method?: string, body?: unknown) =>
      beckon.call(path, { credential, body, ...(method === undefined ? {} : { method }) });
    expectError(await call("/plans"), 403, "forbidden", /workspace default/);
    expectError(await call("/plans", "POST", { name: "x" }), 403, "forbidden", /default/);
    expectError(await call("/workspace-plans"), 403, "forbidden", /workspace default/);
    expectError(await call(`/plans/${id}`), 404, "not_found");
    expectError(await call(`/plans/${id}`, "PATCH", {}), 404, "not_found");
    expectError(await call(`/plans/${id}`, "DELETE"), 404, "not_found");
    const path = `/workspace-plans/${defaultWorkspaceId}`;
    expectError(await call(path, "PATCH", { plan: "unlimited" }), 404, "not_found");
  });
});

describe("the plan of a workspace", () => {
  test("is unlimited unless set, and shows what was used since the start of the month", async () => {
    const { usage, spend } = await newWorkspace();
    const now = new Date();
    const starts = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
    await spend(
      { input_tokens: 10, output_tokens: 5, voice_ms: 7, browser_ms: 9, cost_micros: 100 },
      { input_tokens: 1_000, time: new Date(starts - 1) },
    );
    const resets_at = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString();
    const unlimited = {
      allowance: null,
      unknown_cost_entries: 0,
      reserved: 0,
      left: null,
      reached: false,
      resets_at,
    };
    expect(await usage()).toEqual({
      plan: "unlimited",
      next_plan: null,
      anchor_day: 1,
      time_zone: "UTC",
      starts_at: new Date(starts).toISOString(),
      resets_at,
      metrics: [
        { metric: "tokens", used: 15, ...unlimited },
        { metric: "voice", used: 7, ...unlimited },
        { metric: "browser", used: 9, ...unlimited },
        { metric: "cost", used: 100, ...unlimited },
      ],
    });
  });

  test("set at once counts what was used before in the month", async () => {
    const { move, metrics, spend } = await newWorkspace();
    await spend({ input_tokens: 10, output_tokens: 5, cost_micros: 100 });
    const { name } = await createPlan({ tokens: 20, cost_micros: 1_000 });
    const answer = await move(name);
    expect([answer.status, answer.body.data.plan]).toEqual([200, name]);
    expect(await metrics()).toMatchObject({
      tokens: { allowance: 20, used: 15, left: 5, reached: false },
      cost: { allowance: 1_000, used: 100, left: 900, reached: false },
      voice: { allowance: null },
    });
  });

  test("is reached if nothing is left, or if a call did not fit into what is left", async () => {
    const { id, move, metrics, spend } = await newWorkspace();
    await spend({ input_tokens: 10, cost_micros: 100 });
    await move((await createPlan({ tokens: 10, cost_micros: 1_000 })).name);
    const set = (values: string) =>
      database.engine.query(`update budgets set ${values} where workspace_id = $1`, [id]);
    const reached = async () => {
      const { tokens, cost } = await metrics();
      return [tokens?.reached, cost?.reached];
    };
    expect(await reached()).toEqual([true, false]);
    await set("refused = true");
    expect(await reached()).toEqual([true, true]);
    await set("ends = now() - interval '1 s'");
    expect(await reached()).toEqual([false, false]);
  });

  test.each([
    ["UTC", "America/Los_Angeles"],
    ["America/Los_Angeles", "UTC"],
    ["UTC", "Asia/Tokyo"],
    ["Pacific/Kiritimati", "Etc/GMT+12"],
    ["Etc/GMT+12", "Pacific/Kiritimati"],
  ])("counts what was used since its start if the zone changes from %s to %s", async (from, to) => {
    for (const plan of ["unlimited", (await createPlan({ tokens: 1_000 })).name]) {
      const { change, move, usage, metrics, spend, sumUp, age } = await newWorkspace();
      const setZone = (time_zone: string) => change({ time_zone });
      expect((await setZone(from)).status).toBe(200);
      await move(plan);
      const start = Date.parse((await usage()).starts_at);
      // One entry each half hour.
      const times = Array.from({ length: 200 }, (_, index) => start + (index - 100) * 1_800_000);
      await spend(...times.map((time) => ({ time: new Date(time), voice_ms: 1 })));
      const counted = async () => {
        const since = Date.parse((await usage()).starts_at);
        return { used: times.filter((time) => time >= since).length };
      };
      await age();
      expect((await metrics()).voice).toMatchObject(await counted());
      expect((await setZone(to)).status).toBe(200);
      expect((await metrics()).voice).toMatchObject(await counted());
      await sumUp();
      expect((await metrics()).voice).toMatchObject(await counted());
    }
  });

  test("reads the entries of its first day one by one only after a change of the time zone", async () => {
    const { change, usage, metrics, spend, sumUp, age } = await newWorkspace();
    await change({ time_zone: "Etc/GMT" });
    await age();
    const time = new Date((await usage()).starts_at);
    // The sum of a day with an entry without standard cost differs from its entries.
    await spend(
      { time, model: "a", cost_micros: 30 },
      { time, model: "a", cost_micros: 2, standard_cost_micros: 40 },
    );
    await sumUp();
    const ofSum = { used: 40, unknown_cost_entries: 1 };
    expect((await metrics()).cost).toMatchObject(ofSum);
    expect((await change({ name: "Renamed", time_zone: "Etc/GMT" })).status).toBe(200);
    expect((await metrics()).cost).toMatchObject(ofSum);
    expect((await change({ time_zone: "Etc/UTC" })).status).toBe(200);
    expect((await metrics()).cost).toMatchObject({ used: 70, unknown_cost_entries: 0 });
  });

  test("counts the standard cost where it is known, whatever price the workspace set", async () => {
    const { move, metrics, spend, sumUp } = await newWorkspace();
    await spend(
      { model: "a", cost_micros: 1, standard_cost_micros: 500 },
      { model: "b", cost_micros: 20 },
      // A call without tokens has a standard cost of 0, even if the model has no standard price.
      { model: "b", cost_micros: 0, standard_cost_micros: 0 },
    );
    const shown = { used: 520, unknown_cost_entries: 0 };
    expect((await metrics()).cost).toMatchObject({ allowance: null, ...shown });
    await sumUp();
    expect((await metrics()).cost).toMatchObject({ allowance: null, ...shown });
    await move("business");
    expect((await metrics()).cost).toMatchObject({ allowance: 50_000_000, ...shown });
  });

  test("shows an unknown cost as null, and a cost that is known in part with the calls it lacks", async () => {
    const { metrics, spend, sumUp, age } = await newWorkspace();
    await age();
    await spend({ input_tokens: 10, cost_micros: null });
    expect((await metrics()).cost).toMatchObject({ used: null, unknown_cost_entries: 1 });
    // A call that was answered with an error has the cost 0.
    await spend({ outcome: "failed", cost_micros: 0, standard_cost_micros: 0 });
    expect((await metrics()).cost).toMatchObject({ used: null, unknown_cost_entries: 1 });
    expect((await metrics()).tokens).toMatchObject({ used: 10, unknown_cost_entries: 0 });
    await spend({ model: "a", cost_micros: 30 });
    expect((await metrics()).cost).toMatchObject({ used: 30, unknown_cost_entries: 1 });
    // The standard price becomes known during the day, after the call that cost 30. The sum of this
    // day then contains only standard costs, so after `sumUp` the cost of that call is unknown.
    await spend({ model: "a", cost_micros: 2, standard_cost_micros: 40 });
    expect((await metrics()).cost).toMatchObject({ used: 70, unknown_cost_entries: 1 });
    await sumUp();
    expect((await metrics()).cost).toMatchObject({ used: 40, unknown_cost_entries: 2 });
  });

  test("shows an unknown cost as null also while a plan that limits it is to follow", async () => {
    const { move, metrics, spend } = await newWorkspace();
    await spend({ input_tokens: 10, cost_micros: null });
    await move("business", { takes_effect: "period_end" });
    expect((await metrics()).cost).toMatchObject({
      allowance: null,
      used: null,
      unknown_cost_entries: 1,
    });
    await spend({ cost_micros: 30 });
    expect((await metrics()).cost).toMatchObject({ used: 30, unknown_cost_entries: 1 });
  });

  test("changes at the end of the month if that is asked for", async () => {
    const { id, move, usage, metrics, budgets, endMonth, spend } = await newWorkspace();
    const small = await createPlan({ tokens: 100, voice_ms: 50 });
    await move("business");
    await spend({ input_tokens: 30 });
    const { resets_at } = await usage();
    const answer = await move(small.name, { takes_effect: "period_end" });
    const next_plan = { plan: small.name, starts_at: resets_at };
    expect(answer.body.data).toMatchObject({ plan: "business", next_plan });
    expect(await usage()).toMatchObject({ plan: "business", next_plan });
    expect(await budgets()).toEqual([
      { metric: "cost", allowed: 50_000_000, next: null },
      { metric: "tokens", allowed: 1_000_000, next: 100 },
      { metric: "voice", allowed: null, next: 50 },
    ]);
    await endMonth();
    const shown = { plan: small.name, next_plan: null };
    expect(await usage()).toMatchObject(shown);
    expect(await metrics()).toMatchObject({
      tokens: { allowance: 100, used: 0 },
      voice: { allowance: 50, used: 0 },
      cost: { allowance: null },
    });
    expect(await applyDueChanges()).toContain(id);
    expect(await usage()).toMatchObject(shown);
    expect(await budgets()).toEqual([
      { metric: "tokens", allowed: 100, next: null },
      { metric: "voice", allowed: 50, next: null },
    ]);
    const { rows } = await engine.query("select plan, next_plan from workspaces where id = $1", [
      id,
    ]);
    expect(rows).toEqual([{ plan: small.name, next_plan: null }]);
  });

  test("set at once cancels a planned change", async () => {
    const { move, usage, budgets } = await newWorkspace();
    await move("business");
    await move("unlimited", { takes_effect: "period_end" });
    expect(await usage()).toMatchObject({ plan: "business", next_plan: { plan: "unlimited" } });
    await move("business");
    expect(await usage()).toMatchObject({ plan: "business", next_plan: null });
    expect(await budgets()).toEqual([
      { metric: "cost", allowed: 50_000_000, next: null },
      { metric: "tokens", allowed: 1_000_000, next: null },
    ]);
  });

  test("between two plans without limits changes at once", async () => {
    const { move, usage } = await newWorkspace();
    await move("a.b", { takes_effect: "period_end" });
    expect(await usage()).toMatchObject({ plan: "a.b", next_plan: null });
  });

  test("begins its months on the anchor day, from the next month on", async () => {
    const { id, move, usage, endMonth } = await newWorkspace();
    await move("business");
    const { resets_at } = await usage();
    const anchor = new Date().getUTCDate() === 15 ? 14 : 15;
    const answer = await beckon.call(`/workspace-plans/${id}`, {
      method: "PATCH",
      body: { anchor_day: anchor },
    });
    expect(answer.body.data).toMatchObject({ plan: "business", anchor_day: anchor });
    expect((await usage()).resets_at).toBe(resets_at);
    await endMonth();
    expect(new Date((await usage()).resets_at).getUTCDate()).toBe(anchor);
  });

  test("that is due and limits less is applied by a change of the anchor day alone", async () => {
    const { id, move, budgets, endMonth } = await newWorkspace();
    const small = await createPlan({ tokens: 100 });
    const stored = async () =>
      (await engine.query("select plan, next_plan from workspaces where id = $1", [id])).rows;
    for (const [next, plan, left] of [
      [small.name, small.name, [{ metric: "tokens", allowed: 100, next: null }]],
      ["unlimited", null, []],
    ] as const) {
      await move("business");
      await move(next, { takes_effect: "period_end" });
      await endMonth();
      const answer = await beckon.call(`/workspace-plans/${id}`, {
        method: "PATCH",
        body: { anchor_day: 7 },
      });
      expect(answer.body.data).toMatchObject({ plan: next, next_plan: null, anchor_day: 7 });
      expect(await stored()).toEqual([{ plan, next_plan: null }]);
      expect(await budgets()).toEqual(left);
    }
  });

  test("keeps its month after a new anchor day, even if nothing was used since it began", async () => {
    const { id, move, usage, endMonth } = await newWorkspace();
    await move("business");
    await endMonth();
    const { starts_at, resets_at } = await usage();
    const answer = await beckon.call(`/workspace-plans/${id}`, {
      method: "PATCH",
      body: { anchor_day: new Date().getUTCDate() === 15 ? 14 : 15 },
    });
    expect(answer.status).toBe(200);
    expect(await usage()).toMatchObject({ starts_at, resets_at });
  });

  test("ends its month a month later if the zone moved west across the reset", async () => {
    const { id, move, usage, endMonth } = await newWorkspace();
    await move("business");
    await endMonth();
    // With this zone and anchor day, a new calendar month begins at the next local midnight. The
    // plan's month, which began just now, must not end that early.
    const zone = "Etc/GMT+12";
    const tomorrow = new Date(Date.now() + 12 * 3_600_000).getUTCDate();
    await engine.query("update workspaces set time_zone = $2, plan_anchor = $3 where id = $1", [
      id,
      zone,
      tomorrow,
    ]);
    const { starts_at, resets_at } = await usage();
    const days = (Date.parse(resets_at) - Date.parse(starts_at)) / 86_400_000;
    expect(days).toBeGreaterThan(27);
    expect(days).toBeLessThan(33);
    await move("business");
    expect(await usage()).toMatchObject({ starts_at, resets_at });
  });

  test("begins a month where the last one ended, for all of its metrics", async () => {
    const { id, move, usage, metrics, endMonth, spend } = await newWorkspace();
    const plan = await createPlan({ tokens: 10 });
    await move(plan.name);
    await spend({ input_tokens: 7, cost_micros: 70 });
    await endMonth();
    const { starts_at } = await usage();
    await beckon.call(`/plans/${plan.id}`, { method: "PATCH", body: { cost_micros: 100 } });
    expect((await usage()).starts_at).toBe(starts_at);
    expect(await metrics()).toMatchObject({ tokens: { used: 0 }, cost: { used: 0 } });
    expect(await wrongWithBudgets(engine, id)).toEqual([]);
  });

  test("in the month of a metric that is limited already, another metric resets with it", async () => {
    const { id, move, metrics } = await newWorkspace();
    const plan = await createPlan({ tokens: 10 });
    await move(plan.name);
    await engine.query(
      "update workspaces set time_zone = 'Asia/Tokyo', plan_anchor = 3 where id = $1",
      [id],
    );
    await beckon.call(`/plans/${plan.id}`, { method: "PATCH", body: { cost_micros: 5 } });
    const { tokens, cost } = await metrics();
    expect(cost.resets_at).toBe(tokens.resets_at);
  });

  test("keeps its month if it is changed to one that limits other metrics", async () => {
    const { move, usage, endMonth } = await newWorkspace();
    await move((await createPlan({ tokens: 10 })).name);
    const { starts_at, resets_at } = await usage();
    const anchor = new Date().getUTCDate() === 15 ? 14 : 15;
    await move((await createPlan({ cost_micros: 10 })).name, { anchor_day: anchor });
    expect(await usage()).toMatchObject({ starts_at, resets_at });
    await endMonth();
    expect(new Date((await usage()).resets_at).getUTCDate()).toBe(anchor);
  });

  test.each([
    [{}, /plan is missing/],
    [{ plan: "missing" }, /there is no plan missing/],
    [{ plan: "missing", takes_effect: "period_end" }, /there is no plan missing/],
    [{ anchor_day: 32 }, /anchor_day must be at most 31/],
    [{ plan: "unlimited", takes_effect: "later" }, /takes_effect must be/],
    [{ plan: "unlimited", next_plan: null }, /unknown field next_plan/],
  ])("rejects %j", async (body, text) => {
    const path = `/workspace-plans/${defaultWorkspaceId}`;
    expectError(await beckon.call(path, { method: "PATCH", body }), 400, "bad_request", text);
  });

  test("of an unknown workspace is not found", async () => {
    const path = `/workspace-plans/${newId("wsp")}`;
    const answer = await beckon.call(path, { method: "PATCH", body: { plan: "unlimited" } });
    expectError(answer, 404, "not_found", /no workspace/);
  });

  test("is not shown to a key that is limited to agents", async () => {
    const { id } = await beckon.createAgent();
    const credential = await insertKey(beckon, { agentIds: [id], scopes: ["usage:read"] });
    expectError(await beckon.call("/plan", { credential }), 403, "forbidden", /limited to some/);
  });

  test("is in the list of all workspaces, which can be filtered by plan", async () => {
    const { id, move } = await newWorkspace();
    const { name } = await createPlan({ tokens: 1 });
    await move(name);
    const listed = (await beckon.call(`/workspace-plans?plan=${name}`)).body;
    expect(listed).toEqual({
      ok: true,
      next: null,
      data: [
        {
          workspace_id: id,
          workspace_name: "Test",
          time_zone: "UTC",
          plan: name,
          next_plan: null,
          anchor_day: 1,
        },
      ],
    });
    const first = (await beckon.call("/workspace-plans?limit=1")).body;
    const second = (await beckon.call(`/workspace-plans?limit=1&after=${first.next}`)).body;
    expect(first.data[0].workspace_id > second.data[0].workspace_id).toBe(true);
  });

  test("is written to the audit logs of both workspaces when it changes", async () => {
    const { id, key, move } = await newWorkspace();
    await move("business");
    const entry = {
      action: "workspace.plan",
      target: id,
      data: { before: { plan: "unlimited" }, after: { plan: "business" } },
    };
    for (const credential of [beckon.key, key]) {
      const { data } = (await beckon.call(`/audit?target=${id}`, { credential })).body;
      expect(data).toContainEqual(expect.objectContaining(entry));
    }
  });
});

describe("at startup", () => {
  /** Starts another process with a file of plans. */
  async function startWith(plans: object): Promise<void> {
    const other = await beckon.another({ settings: { BECKON_PLANS: await planFile(plans) } });
    onTestFinished(() => other.stop());
  }
  const present = { business: { tokens: 1_000_000, cost: 50 }, "a.b": {} };

  test("workspaces get the allowances of a changed file, and those of a change that was interrupted", async () => {
    const { move, metrics, spend } = await newWorkspace();
    await move("business");
    const other = await newWorkspace();
    const { id, name } = await createPlan({ tokens: 100 });
    await other.move(name);
    await engine.query("update plans set tokens = 90, voice_ms = 7 where id = $1", [id]);
    await spend({ voice_ms: 30 });
    await startWith({ ...present, business: { tokens: 2_000_000, voice_seconds: 1 } });
    expect(await metrics()).toMatchObject({
      tokens: { allowance: 2_000_000 },
      voice: { allowance: 1_000, used: 30 },
      cost: { allowance: null },
    });
    expect(await other.budgets()).toEqual([
      { metric: "tokens", allowed: 90, next: null },
      { metric: "voice", allowed: 7, next: null },
    ]);
    await startWith(present);
    expect(await metrics()).toMatchObject({
      tokens: { allowance: 1_000_000 },
      voice: { allowance: null },
      cost: { allowance: 50_000_000 },
    });
  });

  test("nothing is written for workspaces that have the allowances of the file already", async () => {
    const { id, move } = await newWorkspace();
    await move("business");
    await move("a.b", { takes_effect: "period_end" });
    const versions = async () =>
      (
        await engine.query(
          `select xmin::text from budgets where workspace_id = $1
            union all select xmin::text from workspaces where id = $1`,
          [id],
        )
      ).rows;
    const before = await versions();
    await startWith(present);
    expect(await versions()).toEqual(before);
  });

  test("a workspace keeps the allowances of a plan that is no longer in the file", async () => {
    const { move, metrics, usage } = await newWorkspace();
    await move("business");
    await startWith({});
    expect((await usage()).plan).toBe("business");
    expect((await metrics()).tokens.allowance).toBe(1_000_000);
  });

  test("a workspace on a plan that no longer exists keeps it until another one replaces it", async () => {
    const { id, move, budgets, endMonth, metrics } = await newWorkspace();
    const small = await createPlan({ tokens: 100, voice_ms: 50 });
    await move("business");
    await engine.query("update workspaces set plan = 'gone' where id = $1", [id]);
    const kept = [
      { metric: "cost", allowed: 50_000_000, next: null },
      { metric: "tokens", allowed: 1_000_000, next: null },
    ];
    const same = await move("gone", { anchor_day: 7 });
    expect(same.body.data).toMatchObject({ plan: "gone", next_plan: null, anchor_day: 7 });
    expect(await budgets()).toEqual(kept);
    const planned = await move(small.name, { takes_effect: "period_end" });
    expect(planned.body.data).toMatchObject({ plan: "gone", next_plan: { plan: small.name } });
    expect(await budgets()).toEqual([
      { metric: "cost", allowed: 50_000_000, next: null },
      { metric: "tokens", allowed: 1_000_000, next: 100 },
      { metric: "voice", allowed: null, next: 50 },
    ]);
    await move("gone");
    expect(await budgets()).toEqual(kept);
    await move(small.name, { takes_effect: "period_end" });
    await endMonth();
    expectError(await move("gone"), 400, "bad_request", /there is no plan gone/);
    expect(await metrics()).toMatchObject({
      tokens: { allowance: 100 },
      voice: { allowance: 50 },
      cost: { allowance: null },
    });
  });

  test("a plan that is created with the name of one that no longer exists applies to the workspaces on it", async () => {
    const { id, move, budgets, metrics, spend } = await newWorkspace();
    await move("business");
    await spend({ voice_ms: 30 });
    const name = `again-${id.replace("wsp_", "")}`;
    await engine.query("update workspaces set plan = $2 where id = $1", [id, name]);
    await createPlan({ name, tokens: 100, voice_ms: 50 });
    expect(await budgets()).toEqual([
      { metric: "tokens", allowed: 100, next: null },
      { metric: "voice", allowed: 50, next: null },
    ]);
    expect((await metrics()).voice).toMatchObject({ used: 30, left: 20 });
  });

  test("a changed plan also applies to a workspace that changes to it from a plan that no longer exists", async () => {
    const { id, move, budgets } = await newWorkspace();
    const small = await createPlan({ tokens: 100 });
    await move("business");
    await engine.query("update workspaces set plan = 'gone' where id = $1", [id]);
    await move(small.name, { takes_effect: "period_end" });
    const body = { tokens: 70, voice_ms: 50 };
    expect((await beckon.call(`/plans/${small.id}`, { method: "PATCH", body })).status).toBe(200);
    expect(await budgets()).toEqual([
      { metric: "cost", allowed: 50_000_000, next: null },
      { metric: "tokens", allowed: 1_000_000, next: 70 },
      { metric: "voice", allowed: null, next: 50 },
    ]);
  });

  test("a plan in the file with the name of one in the database is an error", async () => {
    const { name } = await createPlan({});
    await expect(startWith({ ...present, [name]: {} })).rejects.toThrow(
      new RegExp(`^BECKON_PLANS defines the plan ${name}, .* Choose another name in the file`),
    );
  });

  test("an invalid file is an error", async () => {
    await expect(startWith({ a: { tokens: "many" } })).rejects.toThrow(/tokens of "a" was "many"/);
  });
});
