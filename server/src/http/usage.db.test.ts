import { describe, expect, test } from "vitest";
import { addUsage, type GivenEntry } from "../../test/add-usage.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson } from "../../test/people.ts";
import { type SeededAgent, seedAgent, seedTrigger } from "../../test/tenant.ts";
import { insertKey } from "../../test/workspace-key.ts";
import { rollUp } from "../usage/index.ts";

const beckon = await startTestBeckon();
const { database } = beckon.db;

type Query = Readonly<Record<string, string>>;

/** A workspace with one agent and a key. */
async function workspace({ timeZone = "UTC" } = {}) {
  const agent = await seedAgent(database);
  const { workspaceId } = agent;
  const setTimeZone = (name: string) =>
    database.engine.query("update workspaces set time_zone = $2 where id = $1", [
      workspaceId,
      name,
    ]);
  await setTimeZone(timeZone);
  const key = await insertKey(beckon, { workspaceId });
  const get = (query: Query = {}, credential = key) =>
    beckon.call(`/usage?${new URLSearchParams(query)}`, { credential });
  const usage = async (query: Query = {}, credential = key) => {
    const { status, body } = await get(query, credential);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body.data;
  };
  const csv = async (query: Query = {}, credential = key): Promise<string> =>
    (await get({ ...query, format: "csv" }, credential)).body;
  const add = (entries: readonly GivenEntry[], of: SeededAgent = agent) =>
    addUsage(database, of, ...entries);
  return { workspaceId, agent, key, get, usage, csv, add, setTimeZone };
}

/** Sums all entries up by day. Transactions in other databases of this server can delay it. */
const sumUp = (workspaceId: string) =>
  eventually("the sums of usage", async () => {
    await rollUp(database);
    const { rows } = await database.engine.query(
      `select from usage_entries e join usage_rollups r using (workspace_id)
        where workspace_id = $1 having bool_and(e.transaction < r.up_to)`,
      [workspaceId],
    );
    return rows.length || undefined;
  });

const june = { from: "2026-06-01", to: "2026-06-30" };
const noon = (day: string) => ({ time: `${day}T12:00:00Z` });
const nothing = {
  entries: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  voice_ms: 0,
  browser_ms: 0,
  cost_micros: 0,
  unknown_cost_entries: 0,
  estimated_entries: 0,
};

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
    const { workspaceId, usage, add } = await workspace();
    await add([
      { ...noon("2026-06-10"), cost_micros: 5 },
      { ...noon("2026-06-10"), cost_micros: null },
      { ...noon("2026-06-11"), cost_micros: null },
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
    await sumUp(workspaceId);
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
    usage: (query: Query, credential?: string) => Promise<{ rows: Record<string, unknown>[] }>,
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

describe("time zones", () => {
  const entriesBy = async (
    usage: (query: Query) => Promise<{ rows: Record<string, unknown>[] }>,
    query: Query,
  ) => {
    const { rows } = await usage(query);
    return rows.map((row) => [row.hour ?? row.day, row.entries]);
  };
  const each = (...times: readonly string[]) => times.map((time) => ({ time }));

  test("the day of the change to summer time has 23 hours", async () => {
    const { usage, add } = await workspace({ timeZone: "Europe/Zurich" });
    const hours = Array.from({ length: 23 }, (_, index) => 23 + index).map(
      (hour) => new Date(Date.UTC(2026, 2, 28, hour)),
    );
    await add(hours.map((time) => ({ time })));
    await add(each("2026-03-28T22:59:59.999Z", "2026-03-29T22:00:00Z"));
    const day = { from: "2026-03-29", to: "2026-03-29" };
    expect(await entriesBy(usage, day)).toEqual([["2026-03-29", 23]]);
    expect(await entriesBy(usage, { ...day, group_by: "hour" })).toEqual(
      hours.map((hour) => [hour.toISOString(), 1]),
    );
  });

  test("the day of the change to winter time has 25 hours, of which two have the same name", async () => {
    const { usage, add } = await workspace({ timeZone: "Europe/Zurich" });
    const hours = Array.from({ length: 25 }, (_, index) => 22 + index).map(
      (hour) => new Date(Date.UTC(2026, 9, 24, hour)),
    );
    await add(hours.map((hour) => ({ time: new Date(hour.getTime() + 1_800_000) })));
    await add(each("2026-10-24T21:59:59.999Z", "2026-10-25T23:00:00Z"));
    const day = { from: "2026-10-25", to: "2026-10-25" };
    expect(await entriesBy(usage, day)).toEqual([["2026-10-25", 25]]);
    expect(await entriesBy(usage, { ...day, group_by: "hour" })).toEqual(
      hours.map((hour) => [hour.toISOString(), 1]),
    );
  });

  test("hours begin with an hour of the time zone", async () => {
    const { usage, add } = await workspace({ timeZone: "Asia/Kolkata" });
    await add(each("2026-06-10T10:29:59Z", "2026-06-10T10:30:00Z"));
    expect(await entriesBy(usage, { ...june, group_by: "hour" })).toEqual([
      ["2026-06-10T09:30:00.000Z", 1],
      ["2026-06-10T10:30:00.000Z", 1],
    ]);
  });

  test.each([
    ["Pacific/Kiritimati", "2026-06-09T10:00:00Z", "2026-06-10T09:59:59Z"],
    ["Etc/GMT+12", "2026-06-10T12:00:00Z", "2026-06-11T11:59:59Z"],
  ])("a day of %s is found, whichever table is read", async (timeZone, first, last) => {
    const { usage, add } = await workspace({ timeZone });
    await add(each(first, last));
    const day = { from: "2026-06-10", to: "2026-06-10" };
    expect(await entriesBy(usage, day)).toEqual([["2026-06-10", 2]]);
    expect((await usage({ ...day, group_by: "tag" })).totals.entries).toBe(2);
  });

  test("days stay those of the time zone in which they were made; hours are those of the new one", async () => {
    const { usage, add, setTimeZone } = await workspace({ timeZone: "Pacific/Auckland" });
    await add(each("2026-06-10T12:30:00Z"));
    await setTimeZone("America/St_Johns");
    await add(each("2026-06-10T12:30:00Z"));
    expect(await entriesBy(usage, june)).toEqual([
      ["2026-06-10", 1],
      ["2026-06-11", 1],
    ]);
    expect(await entriesBy(usage, { ...june, group_by: "hour" })).toEqual([
      ["2026-06-10T12:30:00.000Z", 2],
    ]);
  });

  test("times select entries whatever their day; the first is inclusive, the second exclusive", async () => {
    const { usage, add } = await workspace({ timeZone: "Europe/Zurich" });
    await add(each("2026-06-10T09:59:59.999Z", "2026-06-10T10:00:00Z", "2026-06-10T11:00:00Z"));
    const data = await usage({
      from: "2026-06-10T12:00:00+02:00",
      to: "2026-06-10T11:00:00Z",
      group_by: "agent",
    });
    expect([data.from, data.to, data.totals.entries]).toEqual([
      "2026-06-10T10:00:00.000Z",
      "2026-06-10T11:00:00.000Z",
      1,
    ]);
  });
});

describe("filters", () => {
  test("select entries, all together", async () => {
    const { workspaceId, agent, usage, add } = await workspace();
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
    const tokens = async (query: Query) => {
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
    await sumUp(workspaceId);
    await check();
  });

  test("of an agent that the workspace never had are rejected", async () => {
    const { get } = await workspace();
    const stranger = await workspace();
    for (const agent_id of ["agt_none", stranger.agent.agentId])
      expectError(await get({ agent_id }), 404, "not_found", /no agent with this id/);
  });
});

describe("pages", () => {
  test("have all rows once, in order, each with the totals of all", async () => {
    const { usage, add } = await workspace();
    const models = Array.from({ length: 25 }, (_, index) => `größe.${index}: 😀`);
    await add(models.map((model) => ({ ...noon("2026-06-10"), model, input_tokens: 1 })));
    const query = { ...june, group_by: "model,tag", limit: "10" };
    const seen: string[] = [];
    let pages = 0;
    for (let after: string | null = ""; after !== null; pages++) {
      const data = await usage(after === "" ? query : { ...query, after });
      expect(data.totals.input_tokens).toBe(25);
      seen.push(...data.rows.map(({ model }: { model: string }) => model));
      after = data.next;
    }
    expect(pages).toBe(3);
    expect(seen).toEqual(models.map((model) => `demo/${model}`).sort());
  });

  test("a page that ends with the last row is the last", async () => {
    const { usage, add } = await workspace();
    await add([noon("2026-06-10"), noon("2026-06-11")]);
    expect((await usage({ ...june, limit: "2" })).next).toBeNull();
    expect((await usage({ ...june, limit: "1" })).next).not.toBeNull();
  });

  test("a page has 1,000 rows unless another limit is given", async () => {
    const { usage, add } = await workspace();
    await add(
      Array.from({ length: 1_001 }, (_, index) => ({ ...noon("2026-06-10"), model: `m${index}` })),
    );
    const { rows, next } = await usage({ ...june, group_by: "model" });
    expect(rows).toHaveLength(1_000);
    expect((await usage({ ...june, group_by: "model", after: next })).rows).toHaveLength(1);
  });

  test("the next page has the range of the first, also if it is the default", async () => {
    const { usage, add } = await workspace();
    await add([{ model: "a" }, { model: "b" }]);
    for (const query of [
      { group_by: "model", limit: "1" },
      { group_by: "model", limit: "1", from: new Date(Date.now() - 86_400_000).toISOString() },
    ]) {
      const first = await usage(query);
      const second = await usage({ ...query, after: first.next });
      expect(second).toMatchObject({ from: first.from, to: first.to, next: null });
      expect([...first.rows, ...second.rows].map(({ model }) => model)).toEqual([
        "demo/a",
        "demo/b",
      ]);
    }
  });

  test("a cursor belongs to its parameters, its workspace and its agents", async () => {
    const { workspaceId, agent, get, usage, add } = await workspace();
    await add([noon("2026-06-10"), noon("2026-06-11")]);
    const { next: after } = await usage({ ...june, limit: "1" });
    const limited = await insertKey(beckon, { workspaceId, agentIds: [agent.agentId] });
    const stranger = await workspace();
    const message = /after is not a cursor of this report.*start again without after/;
    for (const answer of [
      await get({ ...june, after, model: "demo/echo" }),
      await get({ after }),
      await get({ ...june, after, group_by: "day" }),
      await get({ ...june, after }, limited),
      await stranger.get({ ...june, after }),
      await get({ ...june, after: "c29tZWN1cnNvcg" }),
    ])
      expectError(answer, 400, "bad_request", message);
    expect((await get({ ...june, after, limit: "5" })).status).toBe(200);
  });
});

describe("CSV", () => {
  test("has all rows with their names, and is a file", async () => {
    const { agent, get, add } = await workspace();
    await add([
      { ...noon("2026-06-10"), input_tokens: 5, cost_micros: null },
      { ...noon("2026-06-11"), output_tokens: 7, cost_micros: 12, estimated: true },
    ]);
    const { status, headers, body } = await get({ ...june, group_by: "day,agent", format: "csv" });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(headers.get("content-disposition")).toBe(
      'attachment; filename="beckon-usage-2026-06-01-2026-06-30.csv"',
    );
    expect(body).toBe(
      [
        "day,agent_id,agent_name,entries,input_tokens,output_tokens,cached_input_tokens,cache_write_tokens,reasoning_tokens,voice_ms,browser_ms,cost_micros,unknown_cost_entries,estimated_entries",
        `2026-06-10,${agent.agentId},Test,1,5,0,0,0,0,0,0,,1,0`,
        `2026-06-11,${agent.agentId},Test,1,0,7,0,0,0,0,0,12,0,1`,
        "",
      ].join("\r\n"),
    );
  });

  test("of names, models and tags that are formulas has them as text", async () => {
    const { workspaceId, csv, add } = await workspace();
    const formula = '=HYPERLINK("http://evil.example","Click")';
    const other = await seedAgent(database, { workspaceId, name: formula });
    await add([{ ...noon("2026-06-10"), tags: ["@SUM(1)"], provider: "-1+1" }], other);
    const quoted = `"'=HYPERLINK(""http://evil.example"",""Click"")"`;
    expect(await csv({ ...june, group_by: "agent,model" })).toContain(
      `\r\n${other.agentId},${quoted},'-1+1/echo,1,`,
    );
    expect(await csv({ ...june, group_by: "tag" })).toContain("\r\n'@SUM(1),1,");
  });

  test("is not paged, and has at most 50,000 rows", async () => {
    const { workspaceId, agent, get, csv } = await workspace();
    for (const parameter of [{ limit: "10" }, { after: "x" }])
      expectError(
        await get({ format: "csv", ...parameter }),
        400,
        "bad_request",
        /limit and after cannot be combined with format=csv/,
      );
    const fill = (from: number, to: number) =>
      database.engine.query(
        `insert into usage_days (workspace_id, day, agent_id, provider, model, principal, kind, entries,
          input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens,
          voice_ms, browser_ms, cost_micros, unknown_cost_entries, standard_cost_micros,
          unknown_standard_cost_entries, estimated_entries)
        select $1, '2026-06-10', $2, 'demo', n::text, 'system', 'model', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        from generate_series($3::int, $4::int) n`,
        [workspaceId, agent.agentId, from, to],
      );
    await fill(1, 50_000);
    const query = { ...june, group_by: "model" };
    expect((await csv(query)).trimEnd().split("\r\n")).toHaveLength(50_001);
    await fill(50_001, 50_001);
    expectError(
      await get({ ...query, format: "csv" }),
      400,
      "bad_request",
      /more than 50,000 rows.*Shorten the time range/,
    );
  });
});

describe("access", () => {
  test("a key that is limited to agents gets their usage only", async () => {
    const { workspaceId, agent, get, usage, add } = await workspace();
    const other = await seedAgent(database, { workspaceId });
    await add([{ ...noon("2026-06-10"), tags: ["mine"] }]);
    await add([{ ...noon("2026-06-10"), model: "secret", tags: ["theirs"] }], other);
    const limited = await insertKey(beckon, { workspaceId, agentIds: [agent.agentId] });
    for (const group_by of ["day", "agent", "model", "caller", "metric", "hour", "tag"]) {
      const { rows, totals } = await usage({ ...june, group_by }, limited);
      expect([rows.length, totals.entries]).toEqual([1, 1]);
      expect(JSON.stringify(rows)).not.toMatch(new RegExp(`secret|theirs|${other.agentId}`));
    }
    expect((await usage({ ...june, agent_id: agent.agentId }, limited)).totals.entries).toBe(1);
    expectError(
      await get({ agent_id: other.agentId }, limited),
      404,
      "not_found",
      /no agent with this id/,
    );
  });

  test("names are shown to those who can read what they belong to", async () => {
    const { workspaceId, agent, key, usage, add } = await workspace();
    const { triggerId } = await seedTrigger(database, agent);
    const member = await addPerson(beckon, { role: "viewer", key });
    const limitedTo = async (agentIds: readonly string[]) => {
      const secret = await insertKey(beckon, { workspaceId, agentIds });
      const { rows } = await database.engine.query<{ id: string }>(
        "select id from keys where workspace_id = $1 order by id desc limit 1",
        [workspaceId],
      );
      return { secret, principal: `key:${rows[0]?.id}` };
    };
    const other = await seedAgent(database, { workspaceId });
    const own = await limitedTo([agent.agentId]);
    const wider = await limitedTo([agent.agentId, other.agentId]);
    const principals = {
      token: `token:${agent.agentId}`,
      trigger: `trigger:${triggerId}`,
      user: `user:${member.id}`,
      own: own.principal,
      wider: wider.principal,
    };
    await add(Object.values(principals).map((principal) => ({ ...noon("2026-06-10"), principal })));
    const named = async (credential: string) => {
      const query = { ...june, group_by: "caller,agent" };
      const { rows } = await usage(query, credential);
      expect(rows).toHaveLength(5);
      return Object.entries(principals)
        .filter(([, principal]) =>
          rows.some(
            (row: { caller: string; caller_name: string | null }) =>
              row.caller === principal && row.caller_name !== null,
          ),
        )
        .map(([name]) => name);
    };
    const withScopes = (...scopes: string[]) =>
      insertKey(beckon, { workspaceId, scopes: ["usage:read", ...scopes] });
    expect(await named(key)).toEqual(["token", "trigger", "user", "own", "wider"]);
    expect(await named(await withScopes())).toEqual([]);
    expect(await named(await withScopes("agents:read"))).toEqual(["token"]);
    expect(await named(await withScopes("triggers:read"))).toEqual(["trigger"]);
    expect(await named(await withScopes("keys:read"))).toEqual(["own", "wider"]);
    expect(await named(await withScopes("members:read"))).toEqual(["user"]);
    expect(await named(own.secret)).toEqual(["token", "trigger", "own"]);
    const { rows } = await usage({ ...june, group_by: "agent" }, await withScopes());
    expect(rows[0].agent_name).toBeNull();
  });

  test("the token of an agent cannot read usage", async () => {
    const agent = await beckon.createAgent();
    expectError(
      await beckon.call("/usage", { credential: agent.token }),
      403,
      "forbidden",
      /Use a workspace key/,
    );
  });

  test("another workspace's usage does not count, nor does its first entry", async () => {
    const { add } = await workspace();
    await add([{ ...noon("2026-06-10"), principal: "key:key_1", tags: ["a"] }]);
    const stranger = await workspace();
    for (const query of [{}, { caller: "key:key_1" }, { tag: "a" }, { model: "demo/echo" }])
      expect(await stranger.usage({ ...june, ...query })).toMatchObject({
        since: null,
        totals: nothing,
        rows: [],
      });
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

  test.each<[Query, RegExp]>([
    [{ from: "2100-01-01" }, /from must not be after to, which is today/],
    [{ from: "2026-06-01", to: "2026-07-02", group_by: "hour" }, /at most 31 days.*group by day/],
    [{ from: "2026-06-01", to: "2026-07-02", tag: "a" }, /at most 31 days/],
    [{ from: "2026-06-01", to: "2026-06-02T00:00:00Z" }, /must both be dates/],
  ])("with the range %j", async (query, message) => {
    const { get } = await workspace();
    expectError(await get(query), 400, "bad_request", message);
  });
});
