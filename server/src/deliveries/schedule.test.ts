import { expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { nextDelayMs } from "./schedule.ts";

const { retrySchedule } = readConfig({});

test("the default schedule has ten attempts within about 75 hours", () => {
  expect(retrySchedule).toHaveLength(10);
  const hours = retrySchedule.reduce((sum, seconds) => sum + seconds, 0) / 3_600;
  expect(hours).toBeGreaterThan(75);
  expect(hours).toBeLessThan(76);
});

test("each delay varies by at most 10 %, and after the last attempt there is none", () => {
  for (const [attempts, seconds] of retrySchedule.entries()) {
    if (attempts === 0) continue;
    const delays = [0, 0.5, 0.999_999].map((random) =>
      nextDelayMs(retrySchedule, attempts, undefined, () => random),
    );
    expect(delays[0]).toBeCloseTo(900 * seconds);
    expect(delays[1]).toBeCloseTo(1_000 * seconds);
    expect(delays[2]).toBeLessThanOrEqual(1_100 * seconds);
  }
  expect(nextDelayMs(retrySchedule, 10, 1_000)).toBeUndefined();
});

test("a receiver can lengthen a delay up to 24 hours, and cannot shorten it", () => {
  const random = () => 0.5;
  expect(nextDelayMs([0, 5], 1, 60_000, random)).toBe(60_000);
  expect(nextDelayMs([0, 5], 1, 1_000, random)).toBe(5_000);
  expect(nextDelayMs([0, 5], 1, 10 ** 12, random)).toBe(24 * 3_600_000);
});
