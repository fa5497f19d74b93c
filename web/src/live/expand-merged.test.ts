import type { WorkspaceEvent } from "@beckon/client";
import { expect, test } from "vitest";
import { expandMerged } from "./expand-merged.ts";

const end: WorkspaceEvent = {
  id: "evt_1",
  run_id: "run_1",
  agent_id: "agt_1",
  seq: 3,
  type: "run.finished",
  version: 1,
  time: "2026-01-31T09:30:01.000Z",
  data: { cost_micros: 5 },
  cursor: "c",
};

test("the start of a run precedes the end that has replaced it", () => {
  const merged = { seq: 1, type: "run.started", time: "2026-01-31T09:30:00.000Z" };
  expect(expandMerged({ ...end, merged })).toEqual([
    { ...end, ...merged, id: "evt_1.1", data: {} },
    { ...end, merged },
  ]);
});

test("an event that has replaced none is unchanged", () => {
  expect(expandMerged(end)).toEqual([end]);
});
