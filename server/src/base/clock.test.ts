import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pause, undefinedAfter } from "./clock.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("work that ends in time has its result or its error, and its timer is cleared", async () => {
  expect(await undefinedAfter(Promise.resolve("done"), 1_000)).toBe("done");
  await expect(undefinedAfter(Promise.reject(new Error("failed")), 1_000)).rejects.toThrow(
    "failed",
  );
  expect(vi.getTimerCount()).toBe(0);
});

test("work that takes too long has no result", async () => {
  const late = undefinedAfter(new Promise(() => {}), 1_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await late).toBeUndefined();
});

test("a pause ends after its time or when its signal aborts, and its timer is cleared", async () => {
  const controller = new AbortController();
  const paused = pause(1_000, controller.signal);
  await vi.advanceTimersByTimeAsync(1_000);
  await paused;
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  const aborted = pause(1_000, controller.signal);
  controller.abort();
  await aborted;
  await pause(1_000, controller.signal);
  expect(vi.getTimerCount()).toBe(0);
});
