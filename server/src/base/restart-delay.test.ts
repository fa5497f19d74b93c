import { expect, test } from "vitest";
import { RestartDelay } from "./restart-delay.ts";

test("each delay doubles up to a maximum, and is short again after a long run", () => {
  const delay = new RestartDelay({ minMs: 100, maxMs: 500 });
  expect([0, 0, 60_000, 0, 60_001, 0].map((ranMs) => delay.after(ranMs))).toEqual([
    100, 200, 400, 500, 100, 200,
  ]);
});
