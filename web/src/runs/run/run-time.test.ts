import { expect, test } from "vitest";
import { runTimeOf } from "./run-time.ts";

test("a run takes time from its start on, and waits before", () => {
  const at = (second: number) => new Date(second * 1_000).toISOString();
  const run = { created_at: at(0), started_at: at(60), finished_at: at(65) };
  expect(runTimeOf(run, 0)).toEqual({ ms: 5_000, isWaiting: false });
  const running = { ...run, finished_at: null };
  expect(runTimeOf(running, 62_000)).toEqual({ ms: 2_000, isWaiting: false });
  const queued = { ...running, started_at: null };
  expect(runTimeOf(queued, 9_000)).toEqual({ ms: 9_000, isWaiting: true });
  expect(runTimeOf({ ...run, started_at: null }, 99_000)).toBeUndefined();
});
