import type { WorkspaceEvent } from "@beckon/client";
import { expect, test, vi } from "vitest";

/** Stubs the globals of a browser that the imported modules use when they are loaded. */
vi.stubGlobal("location", { origin: "https://beckon.test" });
vi.stubGlobal("BroadcastChannel", class {});
const { canChange } = await import("./can-change.ts");
const { readingTime } = await import("../../data/server-time.ts");

const event = (type: string, seq: number) =>
  ({ type, seq, agent_id: "agt_1", run_id: "run_1" }) as WorkspaceEvent;

test("a list of queued runs changes when a held run is released", () => {
  expect(canChange({ status: "queued" }, event("run.queued", 2))).toBe(true);
  expect(canChange({}, event("run.queued", 2))).toBe(false);
});

test("a list of waiting runs changes when a limit holds a run after its start", () => {
  expect(canChange({ status: "waiting" }, event("run.waiting", 3))).toBe(true);
  expect(canChange({}, event("run.waiting", 3))).toBe(false);
});

test("a list of running runs changes when a run is resumed", () => {
  expect(canChange({ status: "running" }, event("run.resumed", 4))).toBe(true);
});

test("a list that ends before the server's time gets no new runs, but states of its runs", async () => {
  const hourMs = 3_600_000;
  const headers = { date: new Date(Date.now() + 2 * hourMs).toUTCString() };
  await readingTime(() => Promise.resolve(new Response("", { headers })))("/api/public/me");
  const created_before = new Date(Date.now() + hourMs).toISOString();
  expect(canChange({ created_before }, event("run.started", 1))).toBe(false);
  expect(canChange({ created_before, status: "failed" }, event("run.failed", 4))).toBe(true);
});
