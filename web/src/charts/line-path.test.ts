import { expect, test } from "vitest";
import { linePath } from "./line-path.ts";

const box = { width: 90, height: 20 };

test("a line reaches from edge to edge, zero at the lower one", () => {
  expect(linePath([0, 10, 5, 0], box)).toBe("M0,20h0L30,0L60,10L90,20");
});

test("a value that is not known is a gap, and a value between two gaps a dot", () => {
  expect(linePath([1, null, 2, null, 2, 1], box)).toBe("M0,10h0M36,0h0M72,0h0L90,10");
});

test("equal values, a single one and negative ones have a line; no values have none", () => {
  expect(linePath([0, 0], box)).toBe("M0,20h0L90,20");
  expect(linePath([3], box)).toBe("M0,0h0");
  expect(linePath([-1, 1], box)).toBe("M0,20h0L90,0");
  expect(linePath([], box)).toBe("");
  expect(linePath([null, null], box)).toBe("");
});
