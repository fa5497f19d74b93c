import { expect, test } from "vitest";
import { createBatches } from "./batches.ts";

function collector() {
  const frames: (() => void)[] = [];
  const delivered: (readonly number[])[] = [];
  let overflows = 0;
  const batches = createBatches<number>(
    (flush) => frames.push(flush),
    (items) => delivered.push(items),
    () => overflows++,
  );
  return { batches, frames, delivered, overflows: () => overflows };
}

test("items of one frame are delivered together and in order", () => {
  const { batches, frames, delivered } = collector();
  for (const item of [1, 2, 3]) batches.add(item);
  expect([frames.length, delivered]).toEqual([1, []]);
  frames.shift()?.();
  batches.add(4);
  frames.shift()?.();
  expect(delivered).toEqual([[1, 2, 3], [4]]);
});

test("more than 5,000 waiting items are dropped, and the page is told to read again", () => {
  const { batches, frames, delivered, overflows } = collector();
  for (let item = 0; item < 20_000; item++) batches.add(item);
  frames.shift()?.();
  expect([delivered, overflows()]).toEqual([[], 1]);
  batches.add(7);
  frames.shift()?.();
  expect(delivered).toEqual([[7]]);
});

test("cleared items are not delivered", () => {
  const { batches, frames, delivered } = collector();
  batches.add(1);
  batches.clear();
  frames.shift()?.();
  expect(delivered).toEqual([]);
});
