import { expect, test } from "vitest";
import { createBatcher } from "./batcher.ts";
import { separateLargeRows } from "./large-rows.ts";

test("small rows do not wait for large ones, and the bytes of a row are counted once", async () => {
  const held = Promise.withResolvers<void>();
  let counted = 0;
  const bytes = (row: string) => {
    counted++;
    return row.length;
  };
  const createTestBatcher = (wait?: Promise<void>) =>
    createBatcher<string, string>({
      write: async (rows) => {
        await wait;
        return rows;
      },
      order: (row) => row,
      bytes,
      maxRows: 10,
      maxBytes: 100,
    });
  const both = separateLargeRows({
    bytes,
    maxSmallBytes: 3,
    small: createTestBatcher(),
    large: createTestBatcher(held.promise),
  });
  const large = both.submit("large");
  expect(await both.submit("one")).toBe("one");
  expect(both.pending).toBe(1);
  held.resolve();
  expect(await large).toBe("large");
  expect(counted).toBe(2);
});
