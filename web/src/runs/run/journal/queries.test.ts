import { createClient, type JournalEvent } from "@beckon/client";
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import type { CurrentWorkspace } from "../../../data/index.ts";
import type { Journal } from "./entries.ts";
import { cacheEntry, entryQuery, journalQuery } from "./queries.ts";

/** Returns the query of a journal of three entries, which the server lists one by one. */
function startJournal() {
  // Node renders no frames. If the tab is hidden, the query does not wait for one.
  vi.stubGlobal("document", { hidden: true });
  const reads: number[] = [];
  const held = Promise.withResolvers<void>();
  const listEvents = (_: string, { after = 0 }: { readonly after?: number }) => ({
    page: async () => {
      reads.push(after);
      if (after === 2) await held.promise;
      const entry = { seq: after + 1, type: "run.step", data: {} } as JournalEvent;
      return { data: [entry], next: after === 2 ? null : "more" };
    },
  });
  const client = { runs: { listEvents } } as unknown as CurrentWorkspace["client"];
  const query = journalQuery({ id: "wsp_1", client }, "run_1");
  const cache = new QueryClient();
  return {
    reads,
    release: held.resolve,
    open: () => new QueryObserver(cache, query),
    cached: () => cache.getQueryData<Journal>(query.queryKey),
  };
}

test("a journal that was left while it loaded is completed when it is opened again", async () => {
  const { open, cached, reads, release } = startJournal();
  const leave = open().subscribe(() => {});
  await vi.waitFor(() => expect(reads).toEqual([0, 1, 2]));
  leave();
  release();
  expect(cached()?.isComplete).toBe(false);
  open().subscribe(() => {});
  await vi.waitFor(() => expect(cached()?.isComplete).toBe(true));
  expect(cached()?.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test("a complete journal is not read again when it is opened again", async () => {
  const { open, cached, reads, release } = startJournal();
  release();
  const leave = open().subscribe(() => {});
  await vi.waitFor(() => expect(cached()?.isComplete).toBe(true));
  leave();
  open().subscribe(() => {});
  expect(reads).toEqual([0, 1, 2]);
});

test("a tool's arguments keep integers that a number cannot represent", async () => {
  const body =
    '{"ok":true,"data":[{"seq":3,"data":{"arguments":{"id":9007199254740993}}}],"next":null}';
  const headers = { "content-type": "application/json" };
  const fetch = async () => new Response(body, { headers });
  const client = createClient({ url: "http://127.0.0.1", fetch });
  const workspace = { id: "wsp_1", client } as unknown as CurrentWorkspace;
  const entry = await new QueryClient().fetchQuery(entryQuery(workspace, "run_1", 3));
  expect(JSON.stringify(entry?.data)).toBe('{"arguments":{"id":9007199254740993}}');
});

test("an entry of the stream is not read again when it is opened", async () => {
  const listEvents = () => ({ page: () => Promise.reject(new Error("It was read again.")) });
  const client = { runs: { listEvents } };
  const workspace = { id: "wsp_1", client } as unknown as CurrentWorkspace;
  const cache = new QueryClient();
  const entry = { seq: 3, type: "run.tool_result", data: {} } as JournalEvent;
  cacheEntry(cache, workspace, "run_1", entry);
  expect(await cache.fetchQuery(entryQuery(workspace, "run_1", 3))).toBe(entry);
});
