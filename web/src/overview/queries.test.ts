import { QueryClient, QueryObserver, type QueryObserverOptions } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CurrentWorkspace } from "../data/index.ts";

/** The globals that the modules of the page use when they are loaded. */
vi.stubGlobal("location", { origin: "https://beckon.test" });
vi.stubGlobal("BroadcastChannel", class {});
const {
  byAgentQuery,
  feedQuery,
  isQueueDue,
  nearLimitsQuery,
  providerHealthQuery,
  recentQuery,
  todayQuery,
} = await import("./queries.ts");
const { emptyFeedWords } = await import("./empty-feed.ts");
const { attentionOf } = await import("./attention.ts");
const { uncheckedText } = await import("./unchecked-text.ts");
const { readingTime, toServerTime } = await import("../data/server-time.ts");

const serverTime = "2026-11-03T12:30:30.000Z";

/** Sets the browser's clock, and receives a response with the server's time. */
async function receiveTime(browserTime: string) {
  vi.setSystemTime(browserTime);
  const headers = { date: new Date(serverTime).toUTCString() };
  await readingTime(() => Promise.resolve(new Response("", { headers })))("/api/public/me");
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

const getStats = vi.fn();
const getUsage = vi.fn();
const list = vi.fn();
const client = {
  runs: { getStats, list },
  usage: { get: getUsage },
  limits: { list },
  models: { list },
} as unknown as CurrentWorkspace["client"];
const workspace = {
  id: "wsp_1",
  client,
  can: () => true,
  timeZone: "UTC",
  storedTimeZone: "UTC",
} as unknown as CurrentWorkspace;
const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } });
beforeEach(() => {
  cache.clear();
  getStats.mockReset();
  getUsage.mockReset();
  list.mockReset();
});

test("the cost of today is that of the usage, not that of today's runs", async () => {
  const report = { totals: { cost_micros: 350, unknown_cost_entries: 0 } };
  getUsage.mockResolvedValue(report);
  expect(await cache.fetchQuery(todayQuery(workspace, "2026-11-03"))).toEqual(report);
  expect(getUsage.mock.lastCall?.[0]).toEqual({ from: "2026-11-03", to: "2026-11-03" });
  expect(getStats).not.toHaveBeenCalled();
});

test.each([
  ["the server's today", [{ day: "2026-11-02", cost_micros: 350 }], 350],
  ["nothing, if nothing was used today", [{ day: "2026-11-01", cost_micros: 700 }], 0],
])(
  "in a time zone that the browser does not know, the cost is that of %s",
  async (_, rows, cost) => {
    // Here it is 01:00 UTC, and three hours earlier in the workspace.
    const unknown = { ...workspace, storedTimeZone: "posix/Etc/GMT+3" };
    getUsage.mockResolvedValue({ to: "2026-11-02", rows, totals: { cost_micros: 1_050 } });
    const { totals } = await cache.fetchQuery(todayQuery(unknown, "2026-11-03"));
    expect(totals.cost_micros).toBe(cost);
    expect(getUsage.mock.lastCall?.[0]).toEqual({ from: "2026-11-02", group_by: "day" });
  },
);

test("a new day begins without the cost of the day before", async () => {
  getUsage.mockResolvedValue({});
  await cache.fetchQuery(todayQuery(workspace, "2026-11-03"));
  expect(cache.getQueryData(todayQuery(workspace, "2026-11-04").queryKey)).toBeUndefined();
});

test.each([
  ["all statistics are refetched at once after a minute", 60_000, 3],
  ["they are refetched in turns after a shorter time", 30_000, 0],
  ["all are refetched if the browser's clock was set back", -30_000, 3],
])("when the tab is shown again, %s", async (_, hiddenMs, refetched) => {
  await receiveTime(serverTime);
  getStats.mockResolvedValue({ groups: [] });
  getUsage.mockResolvedValue({});
  const shown = [
    recentQuery(workspace),
    byAgentQuery(workspace),
    todayQuery(workspace, "2026-11-03"),
  ] as unknown as readonly QueryObserverOptions[];
  const closed = shown.map((query) => new QueryObserver(cache, query).subscribe(() => {}));
  await vi.waitFor(() => expect(cache.isFetching()).toBe(0));
  vi.setSystemTime(Date.now() + hiddenMs);
  cache.getQueryCache().onFocus();
  expect(cache.isFetching()).toBe(refetched);
  for (const close of closed) close();
});

/** Reads the feed of failed runs from these pages. The last page is repeated. */
async function readFailed(
  ...pages: readonly { readonly data: object[]; readonly next: unknown }[]
) {
  for (const page of pages.slice(0, -1)) list.mockReturnValueOnce({ page: async () => page });
  list.mockReturnValue({ page: async () => pages.at(-1) });
  const read = await cache.fetchQuery(feedQuery({ id: "wsp_1", client }, "failed"));
  return { ...read, cursors: list.mock.calls.map(([query]) => query.after) };
}

test("the feed finds a failed run that is not among the newest runs", async () => {
  const found = { data: [{ id: "run_1" }], next: null };
  const read = await readFailed({ data: [], next: "a" }, found);
  expect(read).toEqual({ runs: found.data, next: null, cursors: [undefined, "a"] });
});

test("the feed reads no further page once it is full", async () => {
  const data = Array.from({ length: 60 }, (_, index) => ({ id: `run_${index}` }));
  const { runs, cursors } = await readFailed({ data, next: "a" });
  expect([runs.length, cursors.length]).toEqual([100, 2]);
});

test("a feed that did not read all runs does not say that no run has failed", async () => {
  const cursor = btoa("abcdefgh.run_01jbrc2y800000000000000000");
  const { next, cursors } = await readFailed({ data: [], next: cursor });
  expect(cursors).toHaveLength(5);
  const nowMs = Date.parse(serverTime);
  expect(emptyFeedWords("failed", next, nowMs, "UTC")).toBe(
    "No failed run was found, looked back to 3 Nov 2024, 06:41:04.",
  );
  expect(emptyFeedWords("failed", "b", nowMs, "UTC")).toBe(
    "No failed run was found among the newest runs.",
  );
  expect(emptyFeedWords("failed", null, nowMs, "UTC")).toBe("No run has failed.");
});

/** Makes `list` return pages of 200 rows, and counts the pages that are read. */
function listRows(rows: readonly unknown[]) {
  const read = { pages: 0 };
  const page = (start: number) => {
    read.pages++;
    const end = start + 200;
    return { data: rows.slice(start, end), next: end < rows.length ? end : null };
  };
  list.mockReturnValue({
    page: async () => page(0),
    async *[Symbol.asyncIterator]() {
      for (let next: number | null = 0; next !== null; ) {
        const current = page(next);
        yield* current.data;
        next = current.next;
      }
    },
  });
  return read;
}

const none = {
  providers: [],
  byAgent: undefined,
  queue: undefined,
  plan: undefined,
  ceilings: [],
  subscriptions: [],
  agents: new Map(),
  nowMs: 0,
};

test("a reached ceiling needs attention, however many ceilings are before it", async () => {
  const ceilings = Array.from({ length: 401 }, (_, index) => ({
    scope_id: `agt_${index}`,
    limit_micros: 100,
    spent_micros: 0,
    reached: index === 400,
  }));
  listRows(ceilings);
  const read = await cache.fetchQuery(nearLimitsQuery(workspace));
  const condition = { ...none, ceilings: read };
  expect(attentionOf(condition)).toEqual([{ kind: "limit", ceiling: ceilings[400] }]);
  expect(uncheckedText(condition)).toBe("");
});

test("a provider that does not work needs attention, however many are before it", async () => {
  const providers = Array.from({ length: 201 }, (_, index) => ({
    provider: `p${index}`,
    error: index === 200 ? "No route." : null,
  }));
  listRows(providers);
  const read = await cache.fetchQuery(providerHealthQuery(workspace));
  expect(attentionOf({ ...none, providers: read })).toEqual([
    { kind: "provider", name: "p200", error: "No route." },
  ]);
});

test("at most 2,000 ceilings are read, and this is said", async () => {
  const rows = listRows(Array.from({ length: 2_001 }, () => ({ limit_micros: 0 })));
  const ceilings = await cache.fetchQuery(nearLimitsQuery(workspace));
  const agents = new Map(Array.from({ length: 1_000 }, (_, n) => [`agt_${n}`, {} as never]));
  expect([ceilings.length, rows.pages]).toEqual([2_000, 10]);
  expect(uncheckedText({ ...none, ceilings })).toBe("Only the first 2,000 ceilings were checked.");
  expect(uncheckedText({ ...none, ceilings, agents })).toBe(
    "Only the first 2,000 ceilings and 1,000 agents were checked.",
  );
});

test.each([
  ["that is not known is", undefined, 0, -1, true],
  ["with runs is", 3, 0, -1, true],
  ["without runs is not", 0, 59_000, -1, false],
  ["without runs is, if a run was queued since it was requested,", 0, 1_000, 1, true],
  ["without runs is, if it was requested a minute ago,", 0, 60_000, -1, true],
  ["without runs is, if the browser's clock was set back,", 0, -1_000, -1, true],
])("a queue %s refetched", async (_, count, ageMs, queuedMs, isDue) => {
  await receiveTime(serverTime);
  const requestedAt = Date.now() - ageMs;
  const queue =
    count === undefined ? undefined : { count, isMore: false, oldest: undefined, requestedAt };
  expect(isQueueDue(queue, requestedAt + queuedMs)).toBe(isDue);
});

describe.each([
  ["behind", "2026-11-03T12:25:30.000Z"],
  ["ahead", "2026-11-03T12:35:30.000Z"],
])("if the browser's clock is 5 minutes %s", (_, browserTime) => {
  beforeEach(() => receiveTime(browserTime));

  // The page adds a second to the server's time, because the header `Date` has whole seconds only.
  // So the expected times are one second later than the server's.
  test("the last hour is that of the server", async () => {
    getStats.mockResolvedValue({});
    await cache.fetchQuery(recentQuery({ id: "wsp_1", client }));
    expect(getStats.mock.lastCall?.[0].created_after).toBe("2026-11-03T11:30:31.000Z");
  });

  test("a queue waits as long as for the server", () => {
    const oldest = Date.parse(serverTime) - 40_000;
    const queue = { count: 1, isMore: false, oldest, requestedAt: 0 };
    const items = attentionOf({ ...none, queue, nowMs: toServerTime() });
    expect(items).toMatchObject([{ kind: "queue", ageMs: 41_000 }]);
  });
});
