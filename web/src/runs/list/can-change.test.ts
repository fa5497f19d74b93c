import type { WorkspaceEvent } from "@beckon/client";
import { expect, test } from "vitest";
import { canChange } from "./can-change.ts";

const event = (type: string, seq: number) =>
  ({ type, seq, agent_id: "agt_1", run_id: "run_1" }) as WorkspaceEvent;

test("a list of queued runs changes when a held run is released", () => {
  expect(canChange({ status: "queued" }, event("run.queued", 2))).toBe(true);
  expect(canChange({}, event("run.queued", 2))).toBe(false);
});

test("a list of running runs changes when a run is resumed", () => {
  expect(canChange({ status: "running" }, event("run.resumed", 4))).toBe(true);
});
