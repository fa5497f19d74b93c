import { toUUID } from "typeid-js";
import { expect, test, vi } from "vitest";
import { lowestIdAt, newId } from "./ids.ts";

test("ids have their prefix and form, and are unique", () => {
  const ids = Array.from({ length: 1_000 }, () => newId("run"));
  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) {
    expect(id).toMatch(/^run_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  }
});

test("the TypeID library parses an id as a UUIDv7 with the time of its creation", () => {
  for (let made = 0; made < 1_000; made++) {
    const before = Date.now();
    const uuid = toUUID(newId("run") as never);
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    // When the counter of a millisecond is used up, ids use the next millisecond, so the time in an
    // id can be ahead of the clock.
    const time = Number.parseInt(uuid.replace("-", "").slice(0, 12), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now() + 1_000);
  }
});

test("every id is greater than all before it, also after a counter overflow or a clock step back", async () => {
  const { newId: fresh } = await freshIds();
  const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 10_000);
  const ids = Array.from({ length: 10_000 }, () => fresh("run"));
  clock.mockReturnValue(Date.now() - 50_000);
  ids.push(fresh("run"));
  clock.mockRestore();
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("after the clock was set back by hours, new ids have its time", async () => {
  const { newId: fresh, timeOf } = await freshIds();
  const now = Date.now();
  const clock = vi.spyOn(Date, "now").mockReturnValue(now + 7_200_000);
  fresh("run");
  clock.mockReturnValue(now);
  const id = fresh("run");
  clock.mockRestore();
  expect(timeOf(id).getTime()).toBe(now);
});

test("every random bit of an id has both values", () => {
  const uuids = Array.from({ length: 500 }, () =>
    BigInt(`0x${toUUID(newId("run") as never).replaceAll("-", "")}`),
  );
  const random = (1n << 62n) - 1n;
  expect(uuids.reduce((seen, uuid) => seen | uuid, 0n) & random).toBe(random);
  expect(uuids.reduce((seen, uuid) => seen & uuid, random)).toBe(0n);
});

test("the lowest id of a time is between the ids created before and after it", () => {
  const before = Date.now();
  const id = newId("run");
  const after = Date.now();
  expect(lowestIdAt("run", new Date(before)) < id).toBe(true);
  expect(lowestIdAt("run", new Date(after + 1)) > id).toBe(true);
});

test("the lowest id of any time has the form of an id", () => {
  for (const time of [
    "1969-12-31T23:59:59Z",
    "1970-01-01T00:00:00Z",
    "2026-01-31T09:30:00Z",
    "9999-12-31T23:59:59Z",
  ]) {
    expect(lowestIdAt("run", new Date(time))).toMatch(/^run_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  }
});

/**
 * Returns a new instance of the module. Its ids can be ahead of the clock without an effect on the
 * ids of later tests.
 */
async function freshIds(): Promise<typeof import("./ids.ts")> {
  const another = "./ids.ts?another";
  return await import(another);
}
