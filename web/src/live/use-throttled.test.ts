import { expect, onTestFinished, test, vi } from "vitest";
import { createThrottle } from "./use-throttled.ts";

/** A throttle of 2 s whose action ends when the test ends it. */
function startThrottle() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const ends: (() => void)[] = [];
  const action = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)));
  const throttle = createThrottle(action, 2_000);
  return {
    action,
    throttle,
    /** Ends the oldest action in progress. */
    end: async () => {
      ends.shift()?.();
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

test("an action that takes longer than the interval is not started again before it ends", async () => {
  const { action, throttle, end } = startThrottle();
  throttle.call();
  for (let second = 0; second < 10; second++) {
    throttle.call();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(action).toHaveBeenCalledTimes(1);
  await end();
  await vi.advanceTimersByTimeAsync(1_999);
  expect(action).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(action).toHaveBeenCalledTimes(2);
});

test("calls during the interval cause one action at its end", async () => {
  const { action, throttle, end } = startThrottle();
  throttle.call();
  await end();
  throttle.call();
  throttle.call();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(action).toHaveBeenCalledTimes(2);
  await end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(action).toHaveBeenCalledTimes(2);
  throttle.call();
  expect(action).toHaveBeenCalledTimes(3);
});

test("an action that was due when its screen was closed is not started", async () => {
  const { action, throttle, end } = startThrottle();
  throttle.call();
  throttle.call();
  throttle.stop();
  await end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(action).toHaveBeenCalledTimes(1);
});
