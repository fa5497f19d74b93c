import { expect, test } from "vitest";
import { parametersOf, rangeOf, wordsOf } from "./created-range.ts";
import { filtersOf, queryOf } from "./run-filters.ts";

const now = Date.UTC(2026, 10, 3, 12);

test("filters are read from the URL by the API's names", () => {
  const search = {
    status: "failed,running",
    agent_id: "agt_1",
    source: "trigger",
    trigger_id: "trg_1",
    error: " timeout ",
    text: "4711",
    created_after: "24h",
    feed: "all",
  };
  expect(filtersOf(search)).toEqual({
    status: "running,failed",
    agent_id: "agt_1",
    source: "trigger",
    trigger_id: "trg_1",
    error: "timeout",
    text: "4711",
    created_after: "24h",
  });
});

test.each([
  [{ status: "done" }],
  [{ status: "" }],
  [{ source: "cron,email" }],
  [{ error: "   " }],
  [{ created_after: "soon" }],
  [{ created_after: "2026-11-03T12:00" }],
  [{ created_before: "2026-99-03T12:00:00Z" }],
])("what the API would reject is left out: %j", (search) => {
  expect(filtersOf(search)).toEqual({});
});

test("times before now become times that the API knows", () => {
  expect(queryOf({ created_after: "24h", status: "failed" }, now)).toEqual({
    status: "failed",
    created_after: "2026-11-02T12:00:00.000Z",
  });
  expect(queryOf({ created_before: "2026-11-03T12:00:00+01:00" }, now)).toEqual({
    created_before: "2026-11-03T11:00:00.000Z",
  });
});

test.each([
  [{ created_after: "24h" }, "24h", "Last 24 hours"],
  [{ created_after: "5m" }, "5m/", "since 5 min ago"],
  [
    { created_after: "2026-11-01T10:00:00.000Z" },
    "2026-11-01T10:00:00.000Z/",
    "since 1 Nov 2026, 10:00",
  ],
  [
    { created_before: "2026-11-01T10:00:00.000Z" },
    "/2026-11-01T10:00:00.000Z",
    "until 1 Nov 2026, 10:00",
  ],
])("a range of time is one value, and a few words: %j", (filters, value, words) => {
  expect(rangeOf(filters)).toBe(value);
  expect({ created_after: undefined, created_before: undefined, ...filters }).toEqual(
    parametersOf(value),
  );
  expect(wordsOf(value, now, "UTC")).toBe(words);
});
