import { expect, test } from "vitest";
import { clockIn, timeZones } from "./time-zones.ts";

const now = Date.parse("2026-11-21T13:02:11Z");

test.each([
  ["UTC", "13:02, UTC+0"],
  ["Europe/Zurich", "14:02, UTC+1"],
  ["Asia/Kathmandu", "18:47, UTC+5:45"],
  ["Nowhere/City", undefined],
])("in %s it is %s", (zone, clock) => {
  expect(clockIn(zone, now)).toBe(clock);
});

test("UTC is one of the zones, once", () => {
  expect(timeZones().filter((zone) => zone === "UTC")).toEqual(["UTC"]);
  expect(timeZones()).toContain("Europe/Zurich");
});
