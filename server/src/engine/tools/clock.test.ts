import { expect, it } from "vitest";
import { clock, timeIn } from "./clock.ts";
import { grantedTools } from "./granted-tools.ts";

const context = { idempotencyKey: "run_1:c1", signal: new AbortController().signal };
const winter = new Date("2026-01-15T23:30:45.678Z");

it.each([
  ["UTC", "2026-01-15T23:30:45+00:00"],
  ["Europe/Berlin", "2026-01-16T00:30:45+01:00"],
  ["America/St_Johns", "2026-01-15T20:00:45-03:30"],
  ["Asia/Kathmandu", "2026-01-16T05:15:45+05:45"],
])("returns the time in %s with its offset", (zone, time) => {
  expect(timeIn(zone, winter)).toBe(time);
  expect(Date.parse(time)).toBe(Date.parse("2026-01-15T23:30:45Z"));
});

it("supports daylight saving time", () => {
  expect(timeIn("Europe/Berlin", new Date("2026-07-15T12:00:00Z"))).toBe(
    "2026-07-15T14:00:00+02:00",
  );
});

it("uses UTC by default, and rejects unknown time zones", async () => {
  expect(await clock.execute({}, context)).toMatchObject({
    time_zone: "UTC",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
  });
  await expect(clock.execute({ time_zone: "Mars/Olympus" }, context)).rejects.toThrow(
    'There is no time zone named "Mars/Olympus".',
  );
});

it("says what is wrong with invalid arguments", () => {
  expect(clock.check?.({ time_zone: "UTC" })).toBeUndefined();
  expect(clock.check?.({ time_zone: 7 })).toMatch(/^time_zone: /);
  expect(clock.check?.({ zone: "UTC" })).toMatch(/zone/);
  expect(clock.check?.("UTC")).toMatch(/^arguments: /);
  expect(clock.parameters).toMatchObject({
    type: "object",
    properties: { time_zone: { type: "string" } },
    additionalProperties: false,
  });
});

it("is available only if granted, and once", () => {
  const services = { fetch: globalThis.fetch, openSecret: async () => undefined };
  expect(grantedTools([], services)).toEqual([]);
  expect(grantedTools([{ type: "clock" }, { type: "clock" }], services)).toEqual([clock]);
});
