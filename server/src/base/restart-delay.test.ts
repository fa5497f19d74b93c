import { expect, test } from "vitest";
import { RestartDelay } from "./restart-delay.ts";

test("each wait is twice the one before, up to a limit, and short again after a process that was well", () => {
  const delay = new RestartDelay({ minMs: 100, maxMs: 500 });
  expect([0, 0, 60_000, 0, 60_001, 0].map((ranMs) => delay.after(ranMs))).toEqual([
    100, 200, 400, 500, 100, 200,
  ]);
});
