import type { JournalEvent, Run } from "@beckon/client";
import { expect, test } from "vitest";
import { patchRun } from "./patch-run.ts";

const run = { status: "waiting", started_at: null, finished_at: null } as Run;
const event = (type: JournalEvent["type"]) =>
  ({ type, time: "2026-11-03T14:00:00.000Z", data: {} }) as JournalEvent;

test("a held run is queued when it is released, and no other run goes back to the queue", () => {
  expect(patchRun(run, event("run.waiting")).status).toBe("waiting");
  const released = patchRun(run, event("run.queued"));
  expect(released.status).toBe("queued");
  const running = patchRun(released, event("run.started"));
  expect(patchRun(running, event("run.queued")).status).toBe("running");
});
