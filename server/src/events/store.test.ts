import { expect, test } from "vitest";
import { nextLimit } from "./store.ts";

test.each([
  { read: 17, hasMore: true, limit: 200, next: 34, of: "was cut by its size" },
  { read: 150, hasMore: true, limit: 200, next: 200, of: "was cut by its size late" },
  { read: 34, hasMore: true, limit: 34, next: 200, of: "was full" },
  { read: 20, hasMore: false, limit: 34, next: 200, of: "was the last" },
])("after a batch of $read of $limit events that $of, the limit is $next", (batch) => {
  const { read: readCount, hasMore } = batch;
  expect(nextLimit({ readCount, hasMore }, batch.limit, 200)).toBe(batch.next);
});
