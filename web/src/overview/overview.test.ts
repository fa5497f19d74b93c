import type { Ceiling, PlanUsage, RunStats, Subscription, WorkspaceEvent } from "@beckon/client";
import { expect, test } from "vitest";
import { attentionOf, type Condition } from "./attention.ts";
import { hasLine, rateOf, slowestSeries, successOf } from "./figures.ts";
import { addToTally } from "./tally.ts";

const end = "2026-11-03T12:30:30.000Z";
const group = (bucket: string | null, counts: object, more: object = {}) => ({
  bucket,
  agent_id: null,
  runs: { waiting: 0, queued: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, ...counts },
  duration_ms: { p50: null, p95: null },
  usage: { input_tokens: 0, output_tokens: 0 },
  cost_micros: 0,
  ...more,
});
const statsOf = (groups: RunStats["groups"], created_after = "2026-11-03T11:30:30.000Z") => ({
  created_after,
  created_before: end,
  time_zone: "UTC",
  total: group(null, {}),
  groups,
});
const event = (type: string, time: string, more: object = {}) =>
  ({
    id: time,
    run_id: "run_9",
    agent_id: "agt_1",
    seq: 4,
    type,
    time,
    data: {},
    ...more,
  }) as WorkspaceEvent;

const recent = {
  minutes: 60,
  stats: statsOf([
    group("2026-11-03T11:31:00.000Z", { succeeded: 10 }, { duration_ms: { p50: 5, p95: 900 } }),
    group(
      "2026-11-03T12:29:00.000Z",
      { succeeded: 3, failed: 1 },
      { duration_ms: { p50: 5, p95: 80 } },
    ),
    group("2026-11-03T12:30:00.000Z", { running: 1 }),
  ]),
};

test("the rate is the mean of five minutes, with the runs that started since", () => {
  const tally = addToTally(
    [],
    [
      event("run.started", "2026-11-03T12:30:29.000Z", { seq: 1 }),
      event("run.queued", "2026-11-03T12:30:32.000Z", { seq: 1 }),
      event("run.started", "2026-11-03T12:30:33.000Z", { seq: 2 }),
    ],
  );
  expect(rateOf(recent, [])).toMatchObject({ perMinute: 5 / 4.5, total: 15 });
  const live = rateOf(recent, tally);
  expect([live.total, live.series.length]).toEqual([16, 60]);
  expect([live.series[0], live.series[58], live.series[59]]).toEqual([10, 4, 2]);
});

test("a run that is created already failed counts for the rate and as a failure", () => {
  const tally = addToTally([], [event("run.failed", "2026-11-03T12:30:32.000Z", { seq: 1 })]);
  expect(rateOf(recent, tally).total).toBe(rateOf(recent, []).total + 1);
  expect(successOf(recent, tally).failed).toBe(successOf(recent, []).failed + 1);
});

test("a steady rate is shown as this rate at each second of a minute", () => {
  const steady = (created_before: string, current: number) => {
    const before = [26, 27, 28, 29].map((minute) =>
      group(`2026-11-03T12:${minute}:00.000Z`, { succeeded: 60 }),
    );
    const now = group("2026-11-03T12:30:00.000Z", { running: current });
    return { minutes: 60, stats: { ...statsOf([...before, now]), created_before } };
  };
  const early = steady("2026-11-03T12:30:01.000Z", 1);
  expect(rateOf(early, []).perMinute).toBeCloseTo(60, 1);
  expect(rateOf(steady("2026-11-03T12:30:59.000Z", 59), []).perMinute).toBeCloseTo(60, 1);
  const events = Array.from({ length: 90 }, (_, second) =>
    event("run.started", new Date(Date.parse(end) - 28_000 + second * 1_000).toISOString(), {
      seq: 1,
    }),
  );
  expect(rateOf(early, addToTally([], events)).perMinute).toBeCloseTo(60, 0);
});

test("success counts runs that ended, and not those that were cancelled", () => {
  expect(successOf(recent, [])).toMatchObject({ share: 13 / 14, failed: 1, ended: 14 });
  const tally = addToTally(
    [],
    [
      event("run.failed", "2026-11-03T12:30:40.000Z"),
      event("run.cancelled", "2026-11-03T12:30:41.000Z"),
    ],
  );
  expect(successOf(recent, tally)).toMatchObject({ failed: 2, ended: 15 });
  const { series } = successOf(recent, []);
  expect([series[0], series[1], series[11]]).toEqual([1, null, 0.75]);
  expect(successOf({ minutes: 60, stats: statsOf([]) }, []).share).toBeNull();
  expect(slowestSeries(recent).filter((value) => value !== null)).toEqual([900, 80]);
});

test("a line is drawn only if enough neighboring values are known", () => {
  expect(hasLine([1, null, 2, null, 3, 4, null])).toBe(false);
  expect(hasLine([null, 0, 0, 1, null])).toBe(true);
  expect(hasLine([])).toBe(false);
});

test("the tally forgets what statistics have had for long", () => {
  const old = addToTally([], [event("run.failed", "2026-11-03T12:00:00.000Z")]);
  expect(addToTally(old, [event("run.failed", "2026-11-03T12:06:00.000Z")])).toHaveLength(1);
  expect(addToTally(old, [event("run.step", "2026-11-03T12:06:00.000Z")])).toBe(old);
});

const calm: Condition = {
  providers: [],
  byAgent: undefined,
  queue: { count: 0, isMore: false, oldest: undefined, requestedAt: 0 },
  plan: undefined,
  ceilings: [],
  subscriptions: [],
  agents: new Map(),
  nowMs: Date.parse(end),
};

/** A ceiling of 100 micro-dollars. */
const ceiling = (spent_micros: number): Ceiling => ({
  scope: "agent",
  scope_id: "agt_1",
  name: "A",
  limit_micros: 100,
  pauses_agent: false,
  spent_micros,
  reserved_micros: 0,
  left_micros: 100 - spent_micros,
  reached: spent_micros >= 100,
  starts_at: end,
  resets_at: end,
  created_at: end,
  updated_at: end,
});

/** A plan that limits tokens. */
const plan = (used: number, allowance: number | null, reached = false): PlanUsage => ({
  plan: "small",
  next_plan: null,
  anchor_day: 1,
  time_zone: "UTC",
  starts_at: end,
  resets_at: end,
  metrics: [
    {
      metric: "tokens",
      allowance,
      used,
      unknown_cost_entries: 0,
      reserved: 0,
      left: allowance === null ? null : Math.max(0, allowance - used),
      reached,
      resets_at: end,
    },
  ],
});

/** A subscription whose delivery attempts have all failed during the last `failingSeconds`. */
const subscription = (status: Subscription["status"], failingSeconds: number): Subscription => ({
  id: "sub_1",
  url: "https://example.com/beckon",
  description: "",
  event_types: ["run.finished"],
  agent_ids: null,
  trigger_ids: null,
  tags: null,
  payload: "full",
  format: "standard",
  header_names: [],
  status,
  disabled_reason: status === "disabled" ? "failing" : null,
  inactive_since: status === "enabled" ? null : end,
  previous_secret_until: null,
  version: 1,
  health: {
    last_success_at: null,
    last_failure_at: end,
    failing_since: new Date(Date.parse(end) - failingSeconds * 1_000).toISOString(),
    last_error: "The receiver responded with status 500.",
    pending: 1,
    next_attempt_at: end,
    failed: 0,
  },
  created_by: "system",
  created_at: end,
  updated_at: end,
});

test("nothing needs attention while all is well", () => {
  const byAgent = {
    minutes: 60,
    stats: statsOf([{ ...group(null, { succeeded: 99, failed: 1 }), agent_id: "agt_1" }]),
  };
  const queue = { count: 3, isMore: false, oldest: calm.nowMs - 2_000, requestedAt: 0 };
  expect(attentionOf({ ...calm, byAgent, queue })).toEqual([]);
});

test("a provider that cannot be checked, because it does not list its models, needs no attention", () => {
  const error = "It does not list its models (404), so Beckon cannot check it. Agents can use it.";
  const list = { provider: "p", provider_id: "prv_1", origin: "workspace" } as const;
  expect(attentionOf({ ...calm, providers: [{ ...list, models: [], error }] })).toEqual([]);
});

test("the most urgent comes first", () => {
  const failing = (agent_id: string, failed: number) => ({
    ...group(null, { succeeded: 5, failed }),
    agent_id,
  });
  const items = attentionOf({
    providers: [
      { provider: "p", provider_id: "prv_1", origin: "workspace", models: [], error: "No route." },
    ],
    byAgent: { minutes: 60, stats: statsOf([failing("agt_1", 1), failing("agt_2", 9)]) },
    queue: { count: 2, isMore: false, oldest: calm.nowMs - 60_000, requestedAt: 0 },
    plan: plan(80, 100),
    ceilings: [ceiling(80)],
    subscriptions: [subscription("enabled", 60)],
    agents: new Map([
      ["agt_3", { name: "A", paused: true, pauseReason: null, isPausedByLimit: false }],
    ]),
    nowMs: calm.nowMs,
  });
  expect(items.map(({ kind }) => kind)).toEqual([
    "provider",
    "failing",
    "failing",
    "subscription",
    "plan",
    "limit",
    "queue",
    "paused",
  ]);
  expect(items[1]).toMatchObject({ agentId: "agt_2", failed: 9, ended: 14 });
  expect(items[6]).toMatchObject({ ageMs: 60_000 });
});

test("a subscription needs attention if it is disabled, or has failed for a minute", () => {
  const shown = (given: Subscription) => attentionOf({ ...calm, subscriptions: [given] }).length;
  expect(shown(subscription("enabled", 59))).toBe(0);
  expect(shown(subscription("enabled", 60))).toBe(1);
  expect(shown(subscription("disabled", 0))).toBe(1);
  // A person paused the subscription on purpose, so it needs no attention.
  expect(shown(subscription("paused", 600))).toBe(0);
});

test("a ceiling needs attention from 80 percent on, unless it is 0 or pauses its agent", () => {
  const shown = (given: Ceiling, isPausedByLimit = false) =>
    attentionOf({
      ...calm,
      ceilings: [given],
      agents: new Map([
        ["agt_1", { name: "A", paused: false, pauseReason: null, isPausedByLimit }],
      ]),
    });
  expect(shown(ceiling(79))).toEqual([]);
  expect(shown(ceiling(80))).toEqual([{ kind: "limit", ceiling: ceiling(80) }]);
  expect(shown({ ...ceiling(0), limit_micros: 0 })).toEqual([]);
  expect(shown(ceiling(100), true)).toEqual([]);
});

test("a limit that rejected a call needs attention, although little of it is used", () => {
  const reached = { ...ceiling(39), reached: true };
  expect(attentionOf({ ...calm, ceilings: [reached] })).toEqual([
    { kind: "limit", ceiling: reached },
  ]);
  expect(attentionOf({ ...calm, plan: plan(39, 100, true) })).toMatchObject([{ kind: "plan" }]);
});

test("a plan needs attention from 80 percent on, unless it grants nothing or all", () => {
  const shown = (...given: Parameters<typeof plan>) =>
    attentionOf({ ...calm, plan: plan(...given) }).map(({ kind }) => kind);
  expect(shown(79, 100)).toEqual([]);
  expect(shown(80, 100)).toEqual(["plan"]);
  expect(shown(80, null)).toEqual([]);
  expect(shown(0, 0, true)).toEqual([]);
});
