import type { Run } from "@beckon/client";
import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import type { CurrentWorkspace } from "../data/index.ts";
import { listsKey, removeFromLists, runQuery } from "./queries.ts";

const queued = { id: "run_1", status: "queued", attempt: 0, finished_at: null } as Run;
const ended: Run = { ...queued, status: "succeeded", finished_at: "2026-11-03T14:00:00.000Z" };

/**
 * Returns the cached run after a request.
 * @param known the run before the request
 * @param read the run in the response
 * @param arrived the run after events that arrive during the request
 */
async function afterRequest({ known, read, arrived = known }: Record<string, Run>) {
  const cache = new QueryClient();
  const get = async () => {
    cache.setQueryData(query.queryKey, arrived);
    return read;
  };
  const client = { runs: { get } } as unknown as CurrentWorkspace["client"];
  const query = runQuery({ id: "wsp_1", client }, "run_1");
  cache.setQueryData(query.queryKey, known);
  return cache.fetchQuery({ ...query, staleTime: 0 });
}

test("a response replaces a state that was known before, for example from before a restore", async () => {
  expect(await afterRequest({ known: ended, read: queued })).toEqual(queued);
});

test("a response does not replace a state that arrived during the request", async () => {
  expect(await afterRequest({ known: queued, read: queued, arrived: ended })).toEqual(ended);
});

test("deleted runs leave the lists, and searches begin anew if it is not known which", () => {
  const cache = new QueryClient();
  const queryKey = [...listsKey("wsp_1"), { text: "4711" }];
  cache.setDefaultOptions({ queries: { meta: { emptiedByReset: true } } });
  cache.setQueryData(queryKey, {
    pages: [{ data: [queued, { id: "run_2" }] }],
    pageParams: [null],
  });
  removeFromLists(cache, "wsp_1", ["run_2"]);
  expect(cache.getQueryData(queryKey)).toMatchObject({ pages: [{ data: [queued] }] });
  removeFromLists(cache, "wsp_1", undefined);
  expect(cache.getQueryData(queryKey)).toBeUndefined();
});
