import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { guardHeap, type HeapGuard } from "./heap-guard.ts";

let guard: HeapGuard;
let used: number;
let garbage: number;
let collections: number;

beforeEach(() => {
  vi.useFakeTimers();
  used = 10;
  garbage = 0;
  collections = 0;
  guard = guardHeap({
    limitBytes: 100,
    usedBytes: () => used + garbage,
    async collect() {
      collections++;
      garbage = 0;
    },
  });
});
afterEach(() => {
  guard.stop();
  vi.useRealTimers();
});

test("a heap full of garbage is collected and does not count as full", async () => {
  garbage = 80;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([guard.isFull, collections]).toEqual([false, 1]);
});

test("a heap above 85 % after a collection is full until it is below 75 %", async () => {
  const changes: boolean[] = [];
  guard.onChange((isFull) => changes.push(isFull));
  used = 86;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(guard.isFull).toBe(true);
  used = 80;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(guard.isFull).toBe(true);
  used = 74;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(changes).toEqual([true, false]);
});

test("it recovers also if only garbage is left, by its own collection", async () => {
  used = 90;
  await vi.advanceTimersByTimeAsync(1_000);
  garbage = 80;
  used = 10;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(guard.isFull).toBe(false);
});

test("a full heap is not collected continuously", async () => {
  used = 90;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(collections).toBeLessThanOrEqual(7);
});

test("the heap of this process is sampled and collected", async () => {
  vi.useRealTimers();
  const own = guardHeap();
  expect(own.isFull).toBe(false);
  own.stop();
});
