import { expect, test } from "vitest";
import { chartLabel } from "./chart-label.ts";
import { unknownReason, wordsOf } from "./measure.ts";
import { csvQuery, filtersOf, groupingOf, measureOf, runFiltersOf } from "./queries.ts";
import { addDays, daysFilters, daysOf, nameOf, shownDays } from "./range.ts";
import { groupsOf, largest, stackDays, type UsageRow } from "./series.ts";

const today = "2026-11-22";
const row = (more: Partial<UsageRow>): UsageRow => ({
  entries: 1,
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
  ...more,
});

test("a date is counted on across months, years and changes of the clock", () => {
  expect(addDays("2026-03-01", -1)).toBe("2026-02-28");
  expect(addDays("2025-12-31", 1)).toBe("2026-01-01");
  expect(addDays("2026-10-25", 1)).toBe("2026-10-26");
});

test("a range has all its days; one of centuries and what is no range have none", () => {
  expect(daysOf("2026-02-27", "2026-03-02")).toEqual([
    "2026-02-27",
    "2026-02-28",
    "2026-03-01",
    "2026-03-02",
  ]);
  expect(daysOf(today, today)).toEqual([today]);
  expect(daysOf("2026-11-23", today)).toEqual([]);
  expect(daysOf("2016-12-01", today)).toHaveLength(3_644);
  expect(daysOf("1970-01-01", "9998-12-31")).toEqual([]);
  expect(daysOf("2026-11-01T00:00:00.000Z", "2026-11-02T12:00:00.000Z")).toEqual([]);
});

test.each([
  [{ range: "7" }, "7", { from: "2026-11-16" }],
  [{}, "30", {}],
  [{ range: "90", to: "2026-11-02" }, "90", { from: "2026-08-25" }],
  [{ range: "month" }, "month", { from: "2026-11-01" }],
  [{ from: "2026-11-01", to: "" }, "custom", { from: "2026-11-01" }],
  [{ range: "year" }, "30", {}],
] as const)("the search parameters %j name the range %s with the days %j", (search, name, days) => {
  expect(nameOf(search)).toBe(name);
  expect(daysFilters(search, today)).toEqual(days);
});

test("a report ends today and has 30 days, unless its filters say otherwise", () => {
  expect(shownDays({}, today)).toEqual({ from: "2026-10-24", to: today });
  expect(shownDays({ from: "2026-11-05" }, today)).toEqual({ from: "2026-11-05", to: today });
  expect(shownDays({ to: "2026-01-30" }, today)).toEqual({ from: "2026-01-01", to: "2026-01-30" });
});

test("a URL is read as the API's filters; what is not known is ignored", () => {
  const search = {
    from: "2026-11-01",
    to: "",
    agent_id: "agt_1",
    group_by: "model",
    show: "calls",
  };
  expect(filtersOf(search, today)).toEqual({ from: "2026-11-01", agent_id: "agt_1" });
  expect([groupingOf(search), measureOf(search)]).toEqual(["model", "calls"]);
  expect([groupingOf({ group_by: "hour" }), measureOf({ show: "all" })]).toEqual(["agent", "cost"]);
  expect(csvQuery(filtersOf(search, today), "model")).toEqual({
    from: "2026-11-01",
    agent_id: "agt_1",
    group_by: "day,model",
  });
});

test.each([
  [{}, {}],
  [{ from: "2026-11-01", to: "2026-11-30" }, {}],
  [
    { agent_id: "agt_1", tag: "a" },
    { agent_id: "agt_1", tag: "a" },
  ],
  [{ caller: "trigger:trg_1" }, undefined],
  [{ caller: "key:key_1", agent_id: "agt_1" }, undefined],
  [{ model: "demo/echo" }, undefined],
])("usage with the filters %j leads to runs with the filters %j", (filters, expected) => {
  expect(runFiltersOf(filters)).toEqual(expected);
});

test("the largest groups come first, each with a colour of its own", () => {
  const rows = Array.from({ length: 7 }, (_, index) =>
    row({ agent_id: `agt_${index}`, agent_name: null, cost_micros: index, entries: 9 - index }),
  );
  const byCost = groupsOf(rows, "agent", "cost");
  expect(byCost.map(({ key, tone }) => [key, tone])).toEqual([
    ["agt_6", 1],
    ["agt_5", 2],
    ["agt_4", 3],
    ["agt_3", 4],
    ["agt_2", 5],
    ["agt_1", "rest"],
    ["agt_0", "rest"],
  ]);
  expect(largest(byCost)).toHaveLength(5);
  expect(groupsOf(rows, "agent", "calls")[0]?.key).toBe("agt_0");
});

test("groups without a known cost are sorted by their calls", () => {
  const rows = [1, 3, 2].map((entries) =>
    row({ model: `a/${entries}`, cost_micros: null, unknown_cost_entries: entries, entries }),
  );
  expect(groupsOf(rows, "model", "cost").map(({ key }) => key)).toEqual(["a/3", "a/2", "a/1"]);
});

test("a day has a value for each group and one for the rest, which is never negative", () => {
  const all = [row({ day: "2026-11-21", entries: 10 }), row({ day: today, entries: 3 })];
  const parts = [
    [row({ day: "2026-11-21", entries: 6 })],
    [row({ day: "2026-11-21", entries: 1 }), row({ day: today, entries: 5 })],
  ];
  const days = stackDays(["2026-11-20", "2026-11-21", today], all, parts, "calls");
  expect(days.map(({ values }) => values)).toEqual([
    [0, 0, 0],
    [6, 1, 3],
    [0, 5, 0],
  ]);
  expect(days[0]?.amounts.entries).toBe(0);
});

test("an unknown cost is never shown as nothing", () => {
  const unknown = row({ entries: 2, cost_micros: null, unknown_cost_entries: 2 });
  expect(wordsOf(unknown, "cost")).toBe("unknown");
  expect(unknownReason(unknown)).toBe("No price is known for the models of these calls.");
  const some = row({ entries: 40, cost_micros: 18_400, unknown_cost_entries: 12 });
  expect(wordsOf(some, "cost")).toBe("at least $0.0184");
  expect(unknownReason(some)).toBe(
    "12 of 40 calls have no known price, so the cost is at least this much.",
  );
  const free = row({ entries: 40, cost_micros: null, unknown_cost_entries: 12 });
  expect(wordsOf(free, "cost")).toBe("unknown");
  expect(unknownReason(free)).toBe(
    "12 of 40 calls have no known price, and the others cost nothing.",
  );
  expect(wordsOf(row({ cost_micros: 0 }), "cost")).toBe("$0.00");
  expect(unknownReason(row({}))).toBeUndefined();
});

test("the label of the chart names the highest bar, and never says that an unknown cost is $0", () => {
  const label = (totals: UsageRow, ...amounts: readonly UsageRow[]) => {
    const days = amounts.map((row, index) => ({ day: `day ${index}`, amounts: row, values: [] }));
    return chartLabel(days, totals, "cost", (day) => day);
  };
  const unknown = row({ cost_micros: null, unknown_cost_entries: 1 });
  expect(label(unknown, row({ entries: 0 }), unknown)).toBe("Cost by day: unknown in all.");
  const cent = row({ cost_micros: 10_000 });
  expect(label(row({ cost_micros: 20_000 }), unknown, cent, cent)).toBe(
    "Cost by day: $0.02 in all, the most on day 1: $0.01.",
  );
  expect(label(row({ cost_micros: 0 }), row({ entries: 0 }))).toBe("Cost by day: $0.00 in all.");
});

test("tokens are input and output together", () => {
  expect(wordsOf(row({ input_tokens: 1_200, output_tokens: 34 }), "tokens")).toBe("1,234 tokens");
  expect(wordsOf(row({}), "calls")).toBe("1 call");
});
