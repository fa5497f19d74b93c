import { expect, test } from "vitest";
import { fromZoned, startOfDay, toZoned } from "./zoned.ts";

const berlin = "Europe/Berlin";

test.each([
  ["winter", "2026-11-03T14:02", "2026-11-03T13:02:00.000Z"],
  ["summer", "2026-07-03T14:02", "2026-07-03T12:02:00.000Z"],
  ["after the clock was set back", "2026-10-25T03:30", "2026-10-25T02:30:00.000Z"],
])("a time of a field is read in the zone and shown again: %s", (_, text, iso) => {
  const ms = fromZoned(text, berlin);
  expect(new Date(ms ?? 0).toISOString()).toBe(iso);
  expect(toZoned(ms ?? 0, berlin)).toBe(text);
});

test.each(["0026-11-03T14:02", "0926-11-03T14:02", "20261-11-03T14:02", "202611-11-03T14:02"])(
  "a mistyped year is read and shown as it was typed: %s",
  (text) => {
    for (const zone of ["UTC", berlin])
      expect(toZoned(fromZoned(text, zone) ?? Number.NaN, zone)).toBe(text);
  },
);

test("seconds are read, and what is no time is undefined", () => {
  expect(fromZoned("2026-11-03T14:02:11", "UTC")).toBe(Date.UTC(2026, 10, 3, 14, 2, 11));
  expect(fromZoned("", berlin)).toBeUndefined();
  expect(fromZoned("soon", berlin)).toBeUndefined();
});

test.each([
  ["UTC", "2026-11-03T00:00:00.000Z"],
  [berlin, "2026-11-03T23:00:00.000Z"],
  ["Asia/Kolkata", "2026-11-03T18:30:00.000Z"],
  ["America/New_York", "2026-11-03T05:00:00.000Z"],
])("a day begins at midnight of the zone %s", (zone, start) => {
  expect(new Date(startOfDay(Date.UTC(2026, 10, 3, 23, 30), zone)).toISOString()).toBe(start);
});

test("a day on which the clock changes begins at midnight as well", () => {
  const noon = Date.UTC(2026, 9, 25, 12);
  expect(new Date(startOfDay(noon, berlin)).toISOString()).toBe("2026-10-24T22:00:00.000Z");
});

test.each([
  ["America/Santiago", "2026-09-06", "2026-09-06T04:00:00.000Z"],
  ["America/Havana", "2026-03-08", "2026-03-08T05:00:00.000Z"],
])("a day whose midnight the clock skips begins after the change: %s", (zone, day, start) => {
  const evening = Date.parse(`${day}T20:00:00Z`);
  expect(new Date(startOfDay(evening, zone)).toISOString()).toBe(start);
  expect(toZoned(startOfDay(evening, zone), zone)).toBe(`${day}T01:00`);
});

test("a day whose midnight comes twice begins at the first one", () => {
  const evening = Date.UTC(2026, 10, 1, 20);
  expect(new Date(startOfDay(evening, "America/Havana")).toISOString()).toBe(
    "2026-11-01T04:00:00.000Z",
  );
});
