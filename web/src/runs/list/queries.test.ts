import { InfiniteQueryObserver, QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CurrentWorkspace } from "../../data/index.ts";
import { lookedBackTo } from "./looked-back.ts";

/** Stubs the globals of a browser that the imported modules use when they are loaded. */
vi.stubGlobal("location", { origin: "https://beckon.test" });
vi.stubGlobal("BroadcastChannel", class {});
const { runsQuery } = await import("./queries.ts");
const { readingTime } = await import("../../data/server-time.ts");

const hourMs = 3_600_000;
const cursor = btoa("abcdefgh.run_01jbrc2y800000000000000000").replaceAll("=", "");

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

/** Reads two pages of the runs of the last hour. Reading a page takes a second. */
async function readTwoPages() {
  const list = vi.fn((query: { readonly after?: string; readonly created_after?: string }) => ({
    page: async () => {
      vi.advanceTimersByTime(1_000);
      return { data: [], next: query.after === undefined ? cursor : null };
    },
  }));
  const workspace = { id: "wsp_1", client: { runs: { list } } } as unknown as CurrentWorkspace;
  const options = runsQuery(workspace, { created_after: "1h" });
  const { pages } = await new QueryClient().fetchInfiniteQuery({ ...options, pages: 2 });
  return { pages, queries: list.mock.calls.map(([query]) => query) };
}

test("all pages of a list have the same range of time, as their cursors require", async () => {
  const { queries } = await readTwoPages();
  expect(queries.map(({ after }) => after)).toEqual([undefined, cursor]);
  expect(queries[1]?.created_after).toBe(queries[0]?.created_after);
});

test("how far a search has looked is known from the page that follows", async () => {
  const { pages } = await readTwoPages();
  expect(lookedBackTo(pages[0]?.next ?? "")).toBe(lookedBackTo(cursor));
});

test("a range of time is counted back from the server's time", async () => {
  // The server's clock is two hours ahead of the browser's.
  const headers = { date: new Date(Date.now() + 2 * hourMs).toUTCString() };
  await readingTime(() => Promise.resolve(new Response("", { headers })))("/api/public/me");
  const expected = Date.now() + hourMs;
  const { queries } = await readTwoPages();
  const ms = Date.parse(queries[0]?.created_after ?? "");
  expect(Math.abs(ms - expected)).toBeLessThanOrEqual(1_000);
});

test.each([
  ["is not read again when it is shown again or after a change", "2026-01-02T00:00:00Z", 3],
  ["is read again while a run that it has found has not ended", null, 9],
])("a search in texts %s", async (_, finished_at, requests) => {
  const pages = [[{ id: "run_1", finished_at }], [], []];
  const list = vi.fn(({ after }: { readonly after?: string }) => {
    const index = Number(after ?? 0);
    return { page: async () => ({ data: pages[index], next: index < 2 ? `${index + 1}` : null }) };
  });
  const workspace = { id: "wsp_1", client: { runs: { list } } } as unknown as CurrentWorkspace;
  const options = runsQuery(workspace, { text: "4711" });
  const queryClient = new QueryClient();
  await queryClient.fetchInfiniteQuery({ ...options, pages: 3 });
  const observer = new InfiniteQueryObserver(queryClient, options);
  const close = observer.subscribe(() => {});
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  await queryClient.invalidateQueries();
  close();
  expect(list).toHaveBeenCalledTimes(requests);
});
