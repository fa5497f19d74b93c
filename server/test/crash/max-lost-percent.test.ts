import { expect, test } from "vitest";
import { maxLostPercent } from "./max-lost-percent.ts";

test("the bound of lost runs is rounded up, because a lower one would promise too much", () => {
  expect([17_605, 4_000_000, 10_000].map(maxLostPercent)).toEqual(["0.018", "0.001", "0.030"]);
});
