import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

test("items that were put back count for their tenant until they are taken again", () => {
  const queue = new FairQueue<number>();
  for (const item of [1, 2, 3]) queue.add("a", item);
  queue.add("b", 4);
  const taken = [queue.take(), queue.take(), queue.take()].filter((next) => next !== undefined);
  queue.putBack(taken);
  expect([queue.sizeOf("a"), queue.sizeOf("b"), queue.size]).toEqual([3, 1, 4]);
  queue.take();
  expect(queue.sizeOf("a") + queue.sizeOf("b")).toBe(3);
});
