import type { JournalEvent } from "@beckon/client";
import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import type { CurrentWorkspace } from "../../../data/index.ts";
import { journalQuery } from "./queries.ts";
import { receiveEntries } from "./receive-entries.ts";

const workspace = { id: "wsp_1", client: {} } as unknown as CurrentWorkspace;
const { queryKey } = journalQuery(workspace, "run_1");
const entry = (seq: number) => ({ seq, type: "run.step", data: {} }) as JournalEvent;

test("an entry of the stream is added to a journal that is complete", () => {
  const cache = new QueryClient();
  cache.setQueryData(queryKey, { events: [entry(1)], isComplete: true });
  receiveEntries(cache, workspace, "run_1", [entry(1), entry(2)]);
  expect(cache.getQueryData(queryKey)).toEqual({ events: [entry(1), entry(2)], isComplete: true });
});

test.each([
  ["was emptied by a reset", undefined],
  ["is still being read", { events: [entry(1)], isComplete: false }],
])("an entry of the stream is not added to a journal that %s", (_, journal) => {
  const cache = new QueryClient();
  cache.setQueryData(queryKey, journal);
  receiveEntries(cache, workspace, "run_1", [entry(7)]);
  expect(cache.getQueryData(queryKey)).toEqual(journal);
});
