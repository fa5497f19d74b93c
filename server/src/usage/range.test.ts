import type { UsageGroup } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { needsEntries, rangeOf } from "./range.ts";

const now = new Date("2026-06-10T12:00:00Z");
const range = (
  given: { from?: string; to?: string; tag?: string; groups?: readonly UsageGroup[] } = {},
) => rangeOf({ groups: ["day"], ...given }, "2026-06-10", now);

describe("the default range", () => {
  test("has 30 days and ends today", () => {
    expect(range()).toEqual({ kind: "days", from: "2026-05-12", to: "2026-06-10" });
  });

  test("ends today if only the first day is given, whatever its distance", () => {
    expect(range({ from: "2020-01-01" })).toEqual({
      kind: "days",
      from: "2020-01-01",
      to: "2026-06-10",
    });
  });

  test("begins 29 days before a last day, across a change of the year", () => {
    expect(range({ to: "2026-01-10" })).toEqual({
      kind: "days",
      from: "2025-12-12",
      to: "2026-01-10",
    });
  });

  test("ends now if its start is a time", () => {
    expect(range({ from: "2026-06-10T10:00:00+02:00" })).toEqual({
      kind: "times",
      from: new Date("2026-06-10T08:00:00Z"),
      to: now,
    });
  });

  test("begins 30 days before a time", () => {
    expect(range({ to: "2026-06-10T00:00:00Z" })).toEqual({
      kind: "times",
      from: new Date("2026-05-11T00:00:00Z"),
      to: new Date("2026-06-10T00:00:00Z"),
    });
  });
});

test("one day is a range", () => {
  expect(range({ from: "2026-06-01", to: "2026-06-01" })).toMatchObject({ kind: "days" });
});

test.each([
  [{ from: "2026-06-11" }, /from must not be after to, which is 2026-06-10 by default/],
  [{ from: "2026-06-02", to: "2026-06-01" }, /from must not be after to\.$/],
  [{ from: "2026-06-10T12:00:00Z" }, /from must be before to, which is now by default/],
  [{ from: "2026-06-01T00:00:00Z", to: "2026-06-01T00:00:00Z" }, /from must be before to\.$/],
  [{ from: "2026-06-01", to: "2026-06-02T00:00:00Z" }, /must both be dates/],
  [{ from: "2026-06-01T00:00:00Z", to: "2026-06-02" }, /must both be dates/],
])("the range %j is rejected", (given, message) => {
  expect(() => range(given)).toThrow(message);
});

describe("single entries", () => {
  test.each<[string, Parameters<typeof range>[0], RegExp]>([
    ["hours", { groups: ["hour"] }, /^With group_by=hour, .* at most 31 days\. .* group by day\.$/],
    ["tags", { groups: ["agent", "tag"] }, /^With group_by=tag, .* leave tag out of group_by\.$/],
    ["the runs with a tag", { tag: "a" }, /^With the filter tag, .* or leave it out\.$/],
  ])("are read for %s, of at most 31 days", (_, given, message) => {
    const longest = { ...given, from: "2026-05-01", to: "2026-05-31" };
    expect(needsEntries({ groups: ["day"], ...given }, range(longest))).toBe(true);
    expect(() => range({ ...longest, to: "2026-06-01" })).toThrow(message);
  });

  test("are read for times, of at most 31 days", () => {
    const longest = { from: "2026-05-01T00:00:00Z", to: "2026-06-01T00:00:00Z" };
    expect(needsEntries({ groups: ["day"] }, range(longest))).toBe(true);
    expect(() => range({ ...longest, to: "2026-06-01T02:00:01Z" })).toThrow(
      /^With times in from and to, .* at most 31 days\. .* or send dates\.$/,
    );
  });

  test("are read for a month in which summer time ends", () => {
    const october = { from: "2026-10-01T00:00:00+02:00", to: "2026-11-01T00:00:00+01:00" };
    expect(range(october)).toMatchObject({ kind: "times" });
  });

  test("are not read for anything else", () => {
    const groups = ["agent", "model"] as const;
    expect(needsEntries({ groups }, range({ groups, from: "2000-01-01" }))).toBe(false);
  });
});
