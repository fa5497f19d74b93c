import { expect, test } from "vitest";
import { Capacity } from "./capacity.ts";

/** Returns the capacity of a process with an empty queue. */
function createCapacity(max: number, { several = true } = {}): Capacity {
  const capacity = new Capacity({ max, executes: true, heap: { isFull: false } });
  capacity.foundWorkspaces({ several });
  capacity.foundQueue({ empty: true });
  capacity.foundAbandoned({ waiting: false, deaths: 0 });
  return capacity;
}

/** Reserves capacity until it is refused, and returns how often it was reserved. */
function reserveAll(capacity: Capacity, workspaceId?: string): number {
  let count = 0;
  while (capacity.tryReserve(workspaceId)) count++;
  return count;
}

test("of several workspaces, one cannot use the last quarter", () => {
  const capacity = createCapacity(8);
  expect(reserveAll(capacity, "a")).toBe(6);
  expect(reserveAll(capacity, "b")).toBe(2);
});

test("a single workspace can use everything", () => {
  expect(reserveAll(createCapacity(8, { several: false }), "a")).toBe(8);
  expect(reserveAll(createCapacity(8, { several: false }))).toBe(8);
});

test("a process with capacity for one or two runs executes one run of each workspace", () => {
  const one = createCapacity(1);
  expect([reserveAll(one, "a"), reserveAll(one, "b")]).toEqual([1, 0]);
  const two = createCapacity(2);
  expect([reserveAll(two, "a"), reserveAll(two, "b")]).toEqual([1, 1]);
});

test("starts of unknown workspaces count for each workspace until they are known", () => {
  const capacity = createCapacity(8);
  expect(capacity.tryReserve("a")).toBe(true);
  expect(reserveAll(capacity)).toBe(5);
  expect(capacity.tryReserve("a")).toBe(false);
  capacity.endStart(undefined, "b");
  expect(capacity.tryReserve("a")).toBe(true);
  for (let count = 0; count < 4; count++) capacity.endStart(undefined, undefined);
  expect(reserveAll(capacity, "a")).toBe(4);
});

test("new runs do not overtake runs that waited for the share of their workspace", () => {
  const capacity = createCapacity(8);
  reserveAll(capacity, "a");
  capacity.release(1, "a");
  expect(capacity.hasBacklog("a")).toBe(true);
  expect(capacity.tryReserve("a")).toBe(false);
  expect(capacity.tryReserve("b")).toBe(true);
  // A claim that could take runs of the workspace has found none.
  capacity.foundQueue({ empty: true, full: [] });
  expect(capacity.hasBacklog("a")).toBe(false);
  expect(capacity.tryReserve("a")).toBe(true);
  // This one could not.
  capacity.foundQueue({ empty: true, full: ["a"] });
  capacity.release(1, "a");
  expect(capacity.tryReserve("a")).toBe(false);
});

test("a queued run leads to a claim only if its workspace has some of its share left", () => {
  const capacity = createCapacity(8);
  expect(capacity.noteQueued("a")).toBe(true);
  reserveAll(capacity, "a");
  expect(capacity.noteQueued("a")).toBe(false);
  expect(capacity.noteQueued("b")).toBe(true);
  expect(capacity.noteQueued()).toBe(true);
});
