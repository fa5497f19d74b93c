import { expect, test } from "vitest";
import { sameTimeZone } from "./same-time-zone.ts";

const known = ["America/Los_Angeles", "Asia/Kolkata", "UTC", "localtime", "posix/Asia/Calcutta"];

test.each([
  ["US/Pacific", "America/Los_Angeles"],
  ["us/pacific", "America/Los_Angeles"],
  ["Asia/Calcutta", "Asia/Kolkata"],
  ["Zulu", "UTC"],
])("the old name %s is that of the time zone %s", (name, expected) => {
  expect(sameTimeZone(name, known)).toBe(expected);
});

test.each(["Europe/Zurich", "Mars/Olympus"])("there is no other name of %s", (name) => {
  expect(sameTimeZone(name, known)).toBeUndefined();
});
