import { InfiniteQueryObserver, QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { retry } from "./rows-query.ts";

const page = (next: number | null) => async () => ({ next });
const failed = () => Promise.reject(new Error("It failed."));

/** Returns a list of two pages that have been read, and the function that reads a page. */
async function readTwoPages() {
  const read = vi.fn().mockImplementationOnce(page(1)).mockImplementationOnce(page(2));
  const list = new InfiniteQueryObserver(new QueryClient(), {
    queryKey: ["list"],
    queryFn: ({ pageParam }) => read(pageParam) as Promise<{ next: number | null }>,
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
    retry: false,
  });
  await list.refetch();
  await list.fetchNextPage();
  read.mockClear();
  return { list, read };
}

test("a retry after the next page failed reads only this page, and keeps the others", async () => {
  const { list, read } = await readTwoPages();
  read.mockImplementationOnce(failed).mockImplementationOnce(page(null));
  await list.fetchNextPage();
  const before = list.getCurrentResult().data?.pages;
  await retry(list.getCurrentResult());
  expect(read.mock.calls).toEqual([[2], [2]]);
  const { data, isError } = list.getCurrentResult();
  expect([data?.pages, isError]).toEqual([[...(before ?? []), { next: null }], false]);
});

test("a retry after a refetch failed reads all pages", async () => {
  const { list, read } = await readTwoPages();
  read.mockImplementationOnce(failed);
  await list.refetch();
  read.mockImplementationOnce(page(1)).mockImplementationOnce(page(2));
  await retry(list.getCurrentResult());
  expect(read.mock.calls).toEqual([[0], [0], [1]]);
});
