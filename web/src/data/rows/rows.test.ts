import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { firstRows } from "./first-rows.ts";
import { refetchFirstPage } from "./held-rows.ts";

/** Returns a list with these pages, and how many of them were read. */
function listOf(...pages: readonly (readonly number[])[]) {
  const read = { pages: 0 };
  const list = (async function* () {
    for (const page of pages) {
      read.pages++;
      yield* page;
    }
  })();
  return { list, read };
}

test.each([
  ["a short page", [[1], [2, 3], [4]], [1, 2, 3], 2],
  ["an empty page", [[], [1, 2, 3]], [1, 2, 3], 2],
  ["too few rows", [[1], [2]], [1, 2], 2],
])("the first rows of a list with %s are read up to the maximum", async (_, pages, rows, read) => {
  const made = listOf(...pages);
  expect(await firstRows(made.list, 3)).toEqual(rows);
  expect(made.read.pages).toBe(read);
});

test.each([
  ["only the list with exactly this key", true, [1, 2]],
  ["all lists whose keys begin with it", false, [1, 1]],
])("the first page is kept of %s", (_, exact, kept) => {
  const queryClient = new QueryClient();
  const keys = [{}, { outcome: "run" }].map((filters) => ["requests", "list", filters]);
  for (const key of keys)
    queryClient.setQueryData(key, { pages: [[1], [2]], pageParams: [null, "a"] });
  void refetchFirstPage(queryClient, { queryKey: ["requests", "list", {}], exact });
  const pagesOf = (key: (typeof keys)[number]) =>
    queryClient.getQueryData<{ pages: unknown[] }>(key)?.pages.length;
  expect(keys.map(pagesOf)).toEqual(kept);
});
