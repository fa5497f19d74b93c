import type { ChildProcess } from "node:child_process";
import { afterEach, expect, test, vi } from "vitest";
import { createLog } from "../base/log.ts";
import { createMetrics } from "../base/metrics/index.ts";
import type { Collect } from "./messages.ts";
import { MetricsCollector } from "./metrics-collector.ts";

afterEach(() => void vi.useRealTimers());

/**
 * Adds a server that reports `queued` queued runs. Tests set `isSilent` of the returned object, so
 * that the server no longer responds, and call `exit`.
 */
async function addServer(collector: MetricsCollector, queued: number) {
  const server = { isSilent: false, exit: () => collector.exited(child, false) };
  const metrics = await createMetrics({ isOn: true });
  metrics.gauge("beckon_runs_queued", () => [[[], queued]]);
  const send = async ({ id, database }: Collect) => {
    if (!server.isSilent) collector.received(child, id, await metrics.collect({ database }));
  };
  const child = { connected: true, send } as unknown as ChildProcess;
  collector.ready(child);
  return server;
}

test("what is in the database is never an old value, and comes from a server that responds", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const collector = await MetricsCollector.create(createLog("silent"), 2);
  const first = await addServer(collector, 1);
  await addServer(collector, 2);
  const queued = async () => {
    const collected = collector.collect();
    await vi.advanceTimersByTimeAsync(2_000);
    return /^beckon_runs_queued (\d)$/m.exec(await collected)?.[1];
  };
  expect(await queued()).toBe("1");
  first.isSilent = true;
  expect(await queued()).toBeUndefined();
  expect(await queued()).toBe("2");
  first.isSilent = false;
  expect(await queued()).toBe("2");
  expect(await queued()).toBe("1");
});

test("a server that exits during a collection is not waited for, and is not a silent one", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const collector = await MetricsCollector.create(createLog("silent"), 2);
  await addServer(collector, 1);
  const exiting = await addServer(collector, 2);
  exiting.isSilent = true;
  const collected = collector.collect();
  exiting.exit();
  expect(await collected).toContain("beckon_processes_silent 0\n");
});
