import { describe, expect, test } from "vitest";
import { addRun, type GivenRun } from "../../test/add-run.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { seedAgent } from "../../test/tenant.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const { database } = beckon.db;

/**
 * Creates a workspace with one agent and a key. `stats` reads run statistics of the workspace, and
 * `add` adds a run.
 */
async function workspace({ timeZone = "UTC" } = {}) {
  const agent = await seedAgent(database);
  const { workspaceId } = agent;
  await database.engine.query("update workspaces set time_zone = $2 where id = $1", [
    workspaceId,
    timeZone,
  ]);
  const key = await insertKey(beckon, { workspaceId });
  const stats = async (query: Record<string, string> = {}, credential = key) => {
    const { status, body } = await beckon.call(`/runs/stats?${new URLSearchParams(query)}`, {
      credential,
    });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body.data;
  };
  const add = (given: GivenRun = {}, of = agent) => addRun(database, of, given);
  return { workspaceId, agent, key, stats, add };
}

const noRuns = { waiting: 0, queued: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0 };
const june = { created_after: "2026-06-01T00:00:00Z", created_before: "2026-07-01T00:00:00Z" };
const at = (time: string) => ({ createdAt: new Date(time) });

test("without bucket and group_by there is one group, also without runs", async () => {
  const { stats } = await workspace();
  const total = {
    runs: noRuns,
    duration_ms: { p50: null, p95: null },
    usage: { input_tokens: 0, output_tokens: 0 },
    cost_micros: 0,
  };
  expect(await stats(june)).toEqual({
    created_after: "2026-06-01T00:00:00.000Z",
    created_before: "2026-07-01T00:00:00.000Z",
    time_zone: "UTC",
    total,
    groups: [{ bucket: null, agent_id: null, ...total }],
  });
});

test.each<Record<string, string>>([
  { bucket: "minute" },
  { group_by: "agent" },
  { bucket: "hour", group_by: "agent" },
])("the total is that of all groups together: %j", async (query) => {
  const { stats, add, workspaceId } = await workspace();
  const other = await seedAgent(database, { workspaceId });
  const now = Date.now();
  for (let minute = 1; minute <= 10; minute++) {
    const createdAt = new Date(now - minute * 60_000);
    const given = { createdAt, durationMs: minute * 1_000, inputTokens: minute, costMicros: 3 };
    await add(given, minute === 10 ? other : undefined);
  }
  await add({ source: "draft", durationMs: 1 });
  const { total, groups } = await stats(query);
  expect(groups.length).toBeGreaterThan(1);
  expect(total).toEqual({
    runs: { ...noRuns, succeeded: 10 },
    duration_ms: { p50: 5_000, p95: 10_000 },
    usage: { input_tokens: 55, output_tokens: 0 },
    cost_micros: 30,
  });
});

test("runs are counted by status; durations, tokens and cost are those of ended runs", async () => {
  const { stats, add } = await workspace();
  for (let second = 1; second <= 20; second++)
    await add({ durationMs: second * 1_000, inputTokens: 10, outputTokens: 3, costMicros: 7 });
  await add({ status: "failed", durationMs: 500, inputTokens: 1, costMicros: 1 });
  await add({ status: "cancelled", durationMs: 500, costMicros: 0 });
  await add({ status: "running" });
  await add({ status: "queued" });
  const { groups } = await stats();
  expect(groups).toEqual([
    {
      bucket: null,
      agent_id: null,
      runs: { waiting: 0, queued: 1, running: 1, succeeded: 20, failed: 1, cancelled: 1 },
      duration_ms: { p50: 9_000, p95: 19_000 },
      usage: { input_tokens: 201, output_tokens: 60 },
      cost_micros: 141,
    },
  ]);
});

test("the cost is unknown if that of one ended run is", async () => {
  const { stats, add } = await workspace();
  await add({ costMicros: 5 });
  await add({ costMicros: null });
  expect((await stats()).groups[0].cost_micros).toBeNull();
});

test("runs of drafts do not count", async () => {
  const { stats, add } = await workspace();
  await add();
  await add({ source: "draft", inputTokens: 9 });
  expect((await stats()).groups).toMatchObject([
    { runs: { succeeded: 1 }, usage: { input_tokens: 0 } },
  ]);
});

describe("buckets", () => {
  const buckets = (data: { groups: { bucket: string; runs: { succeeded: number } }[] }) =>
    data.groups.map(({ bucket, runs }) => [bucket, runs.succeeded]);

  test("of a day begin at midnight in the workspace's time zone", async () => {
    const { stats, add } = await workspace({ timeZone: "Europe/Zurich" });
    await add(at("2026-06-10T21:59:59Z"));
    await add(at("2026-06-10T22:00:00Z"));
    await add(at("2026-06-11T21:59:59Z"));
    const data = await stats({ ...june, bucket: "day" });
    expect(data.time_zone).toBe("Europe/Zurich");
    expect(buckets(data)).toEqual([
      ["2026-06-09T22:00:00.000Z", 1],
      ["2026-06-10T22:00:00.000Z", 2],
    ]);
  });

  test("of an hour begin with an hour of the time zone", async () => {
    const { stats, add } = await workspace({ timeZone: "Asia/Kolkata" });
    await add(at("2026-06-10T10:29:00Z"));
    await add(at("2026-06-10T10:31:00Z"));
    expect(buckets(await stats({ ...june, bucket: "hour" }))).toEqual([
      ["2026-06-10T09:30:00.000Z", 1],
      ["2026-06-10T10:30:00.000Z", 1],
    ]);
  });

  test("of a minute, with agents", async () => {
    const { stats, add, agent, workspaceId } = await workspace();
    const other = await seedAgent(database, { workspaceId });
    await add(at("2026-06-10T10:00:59Z"));
    await add(at("2026-06-10T10:01:00Z"));
    await add(at("2026-06-10T10:01:30Z"), other);
    const { groups } = await stats({
      created_after: "2026-06-10T10:00:00Z",
      created_before: "2026-06-10T11:00:00Z",
      bucket: "minute",
      group_by: "agent",
    });
    expect(
      groups.map((group: { bucket: string; agent_id: string }) => [group.bucket, group.agent_id]),
    ).toEqual([
      ["2026-06-10T10:00:00.000Z", agent.agentId],
      ...[agent.agentId, other.agentId]
        .sort()
        .map((agentId) => ["2026-06-10T10:01:00.000Z", agentId]),
    ]);
  });

  test.each([
    ["minute", 3_600_000],
    ["hour", 86_400_000],
    ["day", 30 * 86_400_000],
  ])("of a %s end now by default", async (bucket, rangeMs) => {
    const { stats } = await workspace();
    const { created_after, created_before, total, groups } = await stats({ bucket });
    expect(Date.parse(created_before) - Date.parse(created_after)).toBe(rangeMs);
    expect(total.runs).toEqual(noRuns);
    expect(groups).toEqual([]);
  });
});

describe("filters", () => {
  test("select runs as in the list", async () => {
    const { stats, add, agent, workspaceId } = await workspace();
    const other = await seedAgent(database, { workspaceId });
    await add();
    await add({ status: "failed", errorMessage: "Out of 100% luck" });
    await add({ source: "trigger" }, other);
    const count = async (query: Record<string, string>) => {
      const { runs } = (await stats(query)).groups[0];
      return runs.succeeded + runs.failed;
    };
    expect(await count({})).toBe(3);
    expect(await count({ agent_id: agent.agentId })).toBe(2);
    expect(await count({ status: "failed" })).toBe(1);
    expect(await count({ status: "queued,running" })).toBe(0);
    expect(await count({ source: "trigger" })).toBe(1);
    expect(await count({ error: "100% LUCK" })).toBe(1);
    expect(await count({ error: "100_ luck" })).toBe(0);
    expect(await count({ trigger_id: "trg_none" })).toBe(0);
    expect(await count({ agent_id: "agt_none" })).toBe(0);
    expect(await count({ created_before: new Date(Date.now() - 3_600_000).toISOString() })).toBe(0);
  });

  test("of status select runs that have not ended", async () => {
    const { stats, add } = await workspace();
    await add();
    await add({ status: "queued" });
    await add({ status: "running" });
    expect((await stats({ status: "queued,running" })).groups[0].runs).toEqual({
      ...noRuns,
      waiting: 0,
      queued: 1,
      running: 1,
    });
  });
});

describe("access", () => {
  test("a key that is limited to agents gets statistics of their runs only", async () => {
    const { stats, add, agent, workspaceId } = await workspace();
    const other = await seedAgent(database, { workspaceId });
    await add();
    await add({}, other);
    const limited = await insertKey(beckon, { workspaceId, agentIds: [agent.agentId] });
    const { groups } = await stats({ group_by: "agent" }, limited);
    expect(groups).toMatchObject([{ agent_id: agent.agentId, runs: { succeeded: 1 } }]);
    expect((await stats({ agent_id: other.agentId }, limited)).groups[0].runs).toEqual(noRuns);
    const running = await stats({ agent_id: other.agentId, status: "running" }, limited);
    expect(running.groups[0].runs).toEqual(noRuns);
  });

  test("an agent token gets statistics of its agent's runs only", async () => {
    const [agent, other] = [await beckon.createAgent(), await beckon.createAgent()];
    await beckon.invoke(agent, "Hello");
    await beckon.invoke(other, "Hello");
    const { body } = await beckon.call("/runs/stats?group_by=agent", { credential: agent.token });
    expect(body.data.groups).toMatchObject([{ agent_id: agent.id, runs: { succeeded: 1 } }]);
  });

  test("another workspace's runs do not count", async () => {
    const { add, agent } = await workspace();
    await add();
    const stranger = await workspace();
    const { groups } = await stranger.stats({ agent_id: agent.agentId });
    expect(groups[0].runs).toEqual(noRuns);
  });
});

describe("a request is rejected", () => {
  test.each([
    ["bucket", "week"],
    ["bucket", "day'; select 1"],
    ["group_by", "model"],
    ["status", "done"],
    ["source", "email"],
    ["error", ""],
    ["created_after", "yesterday"],
    ["limit", "10"],
    ["text", "Hello"],
    ["view", "summary"],
  ])("that has %s=%s", async (name, value) => {
    expectError(
      await beckon.call(`/runs/stats?${new URLSearchParams({ [name]: value })}`),
      400,
      "bad_request",
      new RegExp(`query parameter ${name}`),
    );
  });

  test("that asks for draft runs, which are not counted", async () => {
    for (const source of ["draft", "invoke,draft"])
      expectError(
        await beckon.call(`/runs/stats?source=${source}`),
        400,
        "bad_request",
        /query parameter source.*draft runs are not counted/,
      );
  });

  test.each([
    [{ created_after: "2100-01-01T00:00:00Z" }, /created_after must be before .* now by default/],
    [
      { created_after: june.created_before, created_before: june.created_after },
      /created_after must be before created_before\./,
    ],
    [{ ...june, bucket: "minute" }, /at most 1 day with bucket=minute.*or use bucket=hour/],
    [
      { ...june, created_before: "2026-07-02T00:00:01Z", bucket: "hour" },
      /at most 31 days with bucket=hour.*or use bucket=day/,
    ],
    [{ created_after: "2020-01-01T00:00:00Z" }, /at most 366 days\. Shorten it\.$/],
  ])("with the time range %j", async (query, message) => {
    expectError(
      await beckon.call(`/runs/stats?${new URLSearchParams(query as Record<string, string>)}`),
      400,
      "bad_request",
      message,
    );
  });
});
