import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { createUsageWorkspace, june, type UsageQuery } from "../../test/usage-workspace.ts";

const beckon = await startTestBeckon();
const workspace = (options?: { timeZone: string }) => createUsageWorkspace(beckon, options);

describe("time zones", () => {
  const entriesBy = async (
    usage: (query: UsageQuery) => Promise<{ rows: Record<string, unknown>[] }>,
    query: UsageQuery,
  ) => {
    const { rows } = await usage(query);
    return rows.map((row) => [row.hour ?? row.day, row.entries]);
  };
  const each = (...times: readonly string[]) => times.map((time) => ({ time }));

  test("the day of the change to summer time has 23 hours", async () => {
    const { usage, add } = await workspace({ timeZone: "Europe/Zurich" });
    const hours = Array.from({ length: 23 }, (_, index) => 23 + index).map(
      (hour) => new Date(Date.UTC(2026, 2, 28, hour)),
    );
    await add(hours.map((time) => ({ time })));
    await add(each("2026-03-28T22:59:59.999Z", "2026-03-29T22:00:00Z"));
    const day = { from: "2026-03-29", to: "2026-03-29" };
    expect(await entriesBy(usage, day)).toEqual([["2026-03-29", 23]]);
    expect(await entriesBy(usage, { ...day, group_by: "hour" })).toEqual(
      hours.map((hour) => [hour.toISOString(), 1]),
    );
  });

  test("the day of the change to winter time has 25 hours, of which two have the same name", async () => {
    const { usage, add } = await workspace({ timeZone: "Europe/Zurich" });
    const hours = Array.from({ length: 25 }, (_, index) => 22 + index).map(
      (hour) => new Date(Date.UTC(2026, 9, 24, hour)),
    );
    await add(hours.map((hour) => ({ time: new Date(hour.getTime() + 1_800_000) })));
    await add(each("2026-10-24T21:59:59.999Z", "2026-10-25T23:00:00Z"));
    const day = { from: "2026-10-25", to: "2026-10-25" };
    expect(await entriesBy(usage, day)).toEqual([["2026-10-25", 25]]);
    expect(await entriesBy(usage, { ...day, group_by: "hour" })).toEqual(
      hours.map((hour) => [hour.toISOString(), 1]),
    );
  });

  test("hours begin with an hour of the time zone", async () => {
    const { usage, add } = await workspace({ timeZone: "Asia/Kolkata" });
    await add(each("2026-06-10T10:29:59Z", "2026-06-10T10:30:00Z"));
    expect(await entriesBy(usage, { ...june, group_by: "hour" })).toEqual([
      ["2026-06-10T09:30:00.000Z", 1],
      ["2026-06-10T10:30:00.000Z", 1],
    ]);
  });

  test.each([
    ["Pacific/Kiritimati", "2026-06-09T10:00:00Z", "2026-06-10T09:59:59Z"],
    ["Etc/GMT+12", "2026-06-10T12:00:00Z", "2026-06-11T11:59:59Z"],
  ])("a day of %s is found, whichever table is read", async (timeZone, first, last) => {
    const { usage, add } = await workspace({ timeZone });
    await add(each(first, last));
    const day = { from: "2026-06-10", to: "2026-06-10" };
    expect(await entriesBy(usage, day)).toEqual([["2026-06-10", 2]]);
    expect((await usage({ ...day, group_by: "tag" })).totals.entries).toBe(2);
  });

  test("days stay those of the time zone in which they were made; hours are those of the new one", async () => {
    const { usage, add, setTimeZone } = await workspace({ timeZone: "Pacific/Auckland" });
    await add(each("2026-06-10T12:30:00Z"));
    await setTimeZone("America/St_Johns");
    await add(each("2026-06-10T12:30:00Z"));
    expect(await entriesBy(usage, june)).toEqual([
      ["2026-06-10", 1],
      ["2026-06-11", 1],
    ]);
    expect(await entriesBy(usage, { ...june, group_by: "hour" })).toEqual([
      ["2026-06-10T12:30:00.000Z", 2],
    ]);
  });

  test("times select entries whatever their day; the first is inclusive, the second exclusive", async () => {
    const { usage, add } = await workspace({ timeZone: "Europe/Zurich" });
    await add(each("2026-06-10T09:59:59.999Z", "2026-06-10T10:00:00Z", "2026-06-10T11:00:00Z"));
    const data = await usage({
      from: "2026-06-10T12:00:00+02:00",
      to: "2026-06-10T11:00:00Z",
      group_by: "agent",
    });
    expect([data.from, data.to, data.totals.entries]).toEqual([
      "2026-06-10T10:00:00.000Z",
      "2026-06-10T11:00:00.000Z",
      1,
    ]);
  });
});
