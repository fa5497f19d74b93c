import { describe, expect, test } from "vitest";
import type { GivenEntry } from "../../test/add-usage.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson } from "../../test/people.ts";
import { seedAgent, seedTrigger } from "../../test/tenant.ts";
import {
  createUsageWorkspace,
  june,
  noon,
  nothing,
  type UsageQuery,
} from "../../test/usage-workspace.ts";

const beckon = await startTestBeckon();
const { database } = beckon.db;
const workspace = (options?: { timeZone: string }) => createUsageWorkspace(beckon, options);

describe("a report", () => {
  test("without entries has no rows, totals of 0 and no first entry", async () => {
    const { usage } = await workspace({ timeZone: "Europe/Zurich" });
    expect(await usage(june)).toEqual({
      ...june,
      time_zone: "Europe/Zurich",
      since: null,
      totals: nothing,
      rows: [],
      next: null,
    });
  });

  test("is by day, of the last 30 days, and has the time of the first entry", async () => {
    const { usage, add } = await workspace();
    const { rows } = await database.engine.query<{ day: string }>(
      "select to_char(now() at time zone 'UTC' - n * interval '1 day', 'YYYY-MM-DD') as day from unnest(array[0, 29, 30]) n",
    );
    const [today = "", first = "", before = ""] = rows.map(({ day }) => day);
    const time = `${before}T01:02:03.004Z`;
    await add([{ input_tokens: 1 }, { input_tokens: 2 }, { ...noon(first), input_tokens: 4 }]);
    await add([{ time, input_tokens: 8 }]);
    const data = await usage();
    expect([data.from, data.to, data.since]).toEqual([first, today, time]);
    expect(data.rows).toEqual([
      { ...nothing, day: first, entries: 1, input_tokens: 4 },
      { ...nothing, day: today, entries: 2, input_tokens: 3 },
    ]);
    expect(data.totals).toEqual({ ...nothing, entries: 3, input_tokens: 7 });
  });

  test("sums all that is metered", async () => {
    const { usage, add } = await workspace();
    const one: GivenEntry = {
      ...noon("2026-06-10"),
      input_tokens: 1_000,
      output_tokens: 200,
      cached_input_tokens: 300,
      cache_write_tokens: 40,
      reasoning_tokens: 50,
      cost_micros: 6_000_000_000_000,
    };
    await add([
      one,
      one,
      { ...noon("2026-06-10"), kind: "voice", voice_ms: 7_500, estimated: true },
      { ...noon("2026-06-10"), kind: "browser", browser_ms: 60_000 },
    ]);
    const { rows, totals } = await usage(june);
    expect(rows).toEqual([{ day: "2026-06-10", ...totals }]);
    expect(totals).toEqual({
      entries: 4,
      input_tokens: 2_000,
      output_tokens: 400,
      cached_input_tokens: 600,
      cache_write_tokens: 80,
      reasoning_tokens: 100,
      voice_ms: 7_500,
      browser_ms: 60_000,
      cost_micros: 12_000_000_000_000,
      unknown_cost_entries: 0,
      estimated_entries: 1,
    });
  });

  test("has the known part of a cost, and how many entries have no price", async () => {
    const { usage, add, sumUp } = await workspace();
    await add([
      { ...noon("2026-06-10"), cost_micros: 5 },
      { ...noon("2026-06-10"), cost_micros: null },
      { ...noon("2026-06-11"), cost_micros: null },
      { ...noon("2026-06-11"), outcome: "failed", cost_micros: 0 },
      { ...noon("2026-06-12"), cost_micros: 0 },
    ]);
    const costs = async () => {
      const { rows, totals } = await usage(june);
      return [...rows, totals].map((row) => [row.cost_micros, row.unknown_cost_entries]);
    };
    const expected = [
      [5, 1],
      [null, 1],
      [0, 0],
      [5, 2],
    ];
    expect(await costs()).toEqual(expected);
    await sumUp();
    expect(await costs()).toEqual(expected);
  });
});

test("a run that has ended is in the report at once, and stays in it when it is deleted", async () => {
  const agent = await beckon.createAgent({ name: "Metered" });
  const trigger = await beckon.createTrigger(agent.id, { name: "Payments" });
  const { run_id: runId } = (await beckon.invoke(agent, "Hello", { "beckon-tags": "billing" }))
    .body;
  const { body: fired } = await beckon.call(trigger.url, { body: { order: 1 }, credential: null });
  const read = async (group_by: string) => {
    const query = new URLSearchParams({ group_by, agent_id: agent.id });
    return (await beckon.call(`/usage?${query}`)).body.data;
  };
  const runOf = async (id: string) =>
    eventually("the end of the run", async () => {
      const { data } = (await beckon.call(`/runs/${id}`)).body;
      return data.finished_at === null ? undefined : data;
    });
  const [invoked, payment] = [await runOf(runId), await runOf(fired.run_id)];
  const callers = {
    rows: [
      { caller: `token:${agent.id}`, caller_name: "Metered", entries: 1, ...tokensOf(invoked) },
      {
        caller: `trigger:${trigger.id}`,
        caller_name: "Payments",
        entries: 1,
        ...tokensOf(payment),
      },
    ],
    totals: { entries: 2, cost_micros: 0, unknown_cost_entries: 0 },
  };
  expect(await read("caller")).toMatchObject(callers);
  expect((await read("tag")).rows).toMatchObject([{ tag: null }, { tag: "billing" }]);
  expect((await read("model")).rows).toMatchObject([{ model: "demo/echo", entries: 2 }]);
  expect((await beckon.call(`/runs/${runId}`, { method: "DELETE" })).status).toBe(204);
  expect(await read("caller")).toMatchObject(callers);

  function tokensOf({ usage }: { usage: { input_tokens: number; output_tokens: number } }) {
    const { input_tokens, output_tokens } = usage;
    return { input_tokens, output_tokens };
  }
});

describe("groups", () => {
  const keys = async (
    usage: (query: UsageQuery, credential?: string) => Promise<{ rows: Record<string, unknown>[] }>,
    group_by: string,
    ...names: readonly string[]
  ) => (await usage({ ...june, group_by })).rows.map((row) => names.map((name) => row[name]));

  test("are agents with their names, also deleted ones", async () => {
    const { workspaceId, agent, usage, add } = await workspace();
    const other = await seedAgent(database, { workspaceId, name: "Gone" });
    await add([noon("2026-06-10")]);
    await add([noon("2026-06-10"), noon("2026-06-11")], other);
    await database.engine.query("update agents set deleted_at = now() where id = $1", [
      other.agentId,
    ]);
    expect(await keys(usage, "agent", "agent_id", "agent_name", "entries")).toEqual(
      [
        [agent.agentId, "Test", 1],
        [other.agentId, "Gone", 2],
      ].sort(),
    );
  });

  test("are models with their providers, sorted by bytes", async () => {
    const { usage, add } = await workspace();
    const model = (provider: string, name: string) => ({
      ...noon("2026-06-10"),
      provider,
      model: name,
    });
    await add([
      model("openrouter", "meta/llama-4"),
      model("Openai", "gpt"),
      model("openai", "gpt"),
      model("openai", "gpt"),
      model("openai", "gpt-5.1"),
    ]);
    expect(await keys(usage, "model", "model", "entries")).toEqual([
      ["Openai/gpt", 1],
      ["openai/gpt", 2],
      ["openai/gpt-5.1", 1],
      ["openrouter/meta/llama-4", 1],
    ]);
  });

  test("are callers with their names, where one exists", async () => {
    const { workspaceId, agent, key, usage, add } = await workspace();
    const { triggerId } = await seedTrigger(database, agent, { name: "Payments" });
    const member = await addPerson(beckon, { role: "viewer", key });
    const left = await addPerson(beckon, { role: "viewer", key });
    await database.engine.query("delete from members where user_id = $1", [left.id]);
    const { rows } = await database.engine.query<{ id: string }>(
      "select id from keys where workspace_id = $1",
      [workspaceId],
    );
    const keyId = rows[0]?.id;
    const principals = [
      `key:${keyId}`,
      "key:key_deleted",
      "system",
      `token:${agent.agentId}`,
      `trigger:${triggerId}`,
      `user:${left.id}`,
      `user:${member.id}`,
    ].sort();
    await add(principals.map((principal) => ({ ...noon("2026-06-10"), principal })));
    const named = new Map([
      [`key:${keyId}`, "Test"],
      [`token:${agent.agentId}`, "Test"],
      [`trigger:${triggerId}`, "Payments"],
      [`user:${member.id}`, "Test"],
    ]);
    expect(await keys(usage, "caller", "caller", "caller_name")).toEqual(
      principals.map((principal) => [principal, named.get(principal) ?? null]),
    );
  });

  test("are metrics, each with its own amounts and cost", async () => {
    const { usage, add } = await workspace();
    await add([
      { ...noon("2026-06-10"), input_tokens: 3, cost_micros: 1 },
      { ...noon("2026-06-10"), kind: "voice", voice_ms: 7, cost_micros: 2 },
      { ...noon("2026-06-10"), kind: "browser", browser_ms: 9, cost_micros: 4 },
    ]);
    const { rows } = await usage({ ...june, group_by: "metric" });
    expect(rows).toEqual([
      { ...nothing, metric: "browser_seconds", entries: 1, browser_ms: 9, cost_micros: 4 },
      { ...nothing, metric: "tokens", entries: 1, input_tokens: 3, cost_micros: 1 },
      { ...nothing, metric: "voice_seconds", entries: 1, voice_ms: 7, cost_micros: 2 },
    ]);
  });

  test("are tags: an entry counts for each of its tags, and once in the totals", async () => {
    const { usage, add } = await workspace();
    await add([
      { ...noon("2026-06-10"), tags: ["billing", "eu"], input_tokens: 1 },
      { ...noon("2026-06-10"), tags: ["eu"], input_tokens: 2 },
      { ...noon("2026-06-10"), tags: null, input_tokens: 4 },
      { ...noon("2026-06-10"), tags: [], input_tokens: 8 },
    ]);
    const { rows, totals } = await usage({ ...june, group_by: "tag" });
    expect(rows).toEqual([
      { ...nothing, tag: null, entries: 2, input_tokens: 12 },
      { ...nothing, tag: "billing", entries: 1, input_tokens: 1 },
      { ...nothing, tag: "eu", entries: 2, input_tokens: 3 },
    ]);
    expect(totals).toEqual({ ...nothing, entries: 4, input_tokens: 15 });
  });

  test("are two, in the requested order", async () => {
    const { usage, add } = await workspace();
    const on = (day: string, model: string) => ({ ...noon(day), model });
    await add([on("2026-06-11", "a"), on("2026-06-10", "b"), on("2026-06-10", "a")]);
    expect(await keys(usage, "day,model", "day", "model")).toEqual([
      ["2026-06-10", "demo/a"],
      ["2026-06-10", "demo/b"],
      ["2026-06-11", "demo/a"],
    ]);
    expect(await keys(usage, "model,day", "day", "model")).toEqual([
      ["2026-06-10", "demo/a"],
      ["2026-06-11", "demo/a"],
      ["2026-06-10", "demo/b"],
    ]);
  });
});

describe("filters", () => {
  test("select entries, all together", async () => {
    const { workspaceId, agent, usage, add, sumUp } = await workspace();
    const other = await seedAgent(database, { workspaceId });
    const on = noon("2026-06-10");
    await add([
      { ...on, input_tokens: 1 },
      { ...on, input_tokens: 2, provider: "openrouter", model: "meta/llama" },
      { ...on, input_tokens: 4, principal: "key:key_1" },
      { ...on, input_tokens: 8, tags: ["a", "b"] },
    ]);
    await add([{ ...on, input_tokens: 16, principal: "key:key_1", tags: ["b"] }], other);
    await add(
      [{ ...on, input_tokens: 32, principal: "trigger:trg_1", trigger_id: "trg_1" }],
      other,
    );
    await database.engine.query("update agents set deleted_at = now() where id = $1", [
      other.agentId,
    ]);
    const tokens = async (query: UsageQuery) => {
      const { rows, totals } = await usage({ ...june, ...query });
      const sum = rows.reduce((total: number, row: typeof totals) => total + row.input_tokens, 0);
      expect(sum).toBe(totals.input_tokens);
      return totals.input_tokens;
    };
    const check = async () => {
      expect(await tokens({})).toBe(63);
      expect(await tokens({ agent_id: agent.agentId })).toBe(15);
      expect(await tokens({ agent_id: other.agentId })).toBe(48);
      expect(await tokens({ model: "openrouter/meta/llama" })).toBe(2);
      expect(await tokens({ model: "openrouter" })).toBe(0);
      expect(await tokens({ caller: "key:key_1" })).toBe(20);
      expect(await tokens({ caller: "trigger:trg_1" })).toBe(32);
      expect(await tokens({ caller: "key:key_2" })).toBe(0);
      expect(await tokens({ tag: "b" })).toBe(24);
      expect(await tokens({ tag: "%" })).toBe(0);
      expect(await tokens({ tag: "b", agent_id: other.agentId, caller: "key:key_1" })).toBe(16);
    };
    await check();
    await sumUp();
    await check();
  });

  test("of an agent that the workspace never had are rejected", async () => {
    const { get } = await workspace();
    const stranger = await workspace();
    for (const agent_id of ["agt_none", stranger.agent.agentId])
      expectError(await get({ agent_id }), 404, "not_found", /no agent with this id/);
  });
});

describe("a request is rejected", () => {
  test.each([
    ["group_by", "week", /group_by, item 1, must be "day" or/],
    ["group_by", "", /group_by, item 1, must be/],
    ["group_by", "day,agent,model", /group_by must be at most 2 items/],
    ["group_by", "day,day", /group_by must not name a group twice/],
    ["group_by", "day'; select 1", /group_by, item 1,/],
    ["from", "yesterday", /from must be a date, for example 2026-01-31, or an RFC 3339 time/],
    ["from", "2026-02-30", /from must be a date/],
    ["from", "2026-06-10T10:00:00", /from must be a date/],
    ["from", "0000-01-01", /from must be in the years 1970 to 9998/],
    ["to", "9999-12-31", /to must be in the years/],
    ["format", "xml", /format must be/],
    ["limit", "1001", /limit must be at most 1000/],
    ["limit", "0", /limit must be at least 1/],
    ["tag", "", /tag must/],
    ["model", "\0", /model must not contain NUL/],
    ["workspace", "wsp_1", /unknown query parameter workspace/],
    ["trigger_id", "trg_1", /unknown query parameter trigger_id/],
  ])("that has %s=%j", async (name, value, message) => {
    const { get } = await workspace();
    expectError(await get({ [name]: value }), 400, "bad_request", message);
  });

  test.each<[UsageQuery, RegExp]>([
    [{ from: "2100-01-01" }, /from must not be after to, which is \d{4}-\d\d-\d\d by default/],
    [{ from: "2026-06-01", to: "2026-07-02", group_by: "hour" }, /at most 31 days.*group by day/],
    [{ from: "2026-06-01", to: "2026-07-02", tag: "a" }, /at most 31 days/],
    [{ from: "2026-06-01", to: "2026-06-02T00:00:00Z" }, /must both be dates/],
  ])("with the range %j", async (query, message) => {
    const { get } = await workspace();
    expectError(await get(query), 400, "bad_request", message);
  });
});
