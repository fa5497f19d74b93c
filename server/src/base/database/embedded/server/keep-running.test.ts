import { expect, test } from "vitest";
import { createLog } from "../../../log.ts";
import { keepRunning } from "./keep-running.ts";
import type { Postmaster } from "./run-postmaster.ts";

/** Returns a fake PostgreSQL, which exits when it is stopped or killed. */
function startFake(pid: number): Postmaster & { kill(): void } {
  const { promise: exited, resolve } = Promise.withResolvers<string>();
  return {
    pid,
    exited,
    stop: async () => resolve("exit code 0"),
    kill: () => resolve("killed by SIGKILL"),
  };
}

test("a restart that succeeds during a stop is stopped too", async () => {
  const [first, second] = [startFake(1), startFake(2)];
  const restarting = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<Postmaster>();
  let starts = 0;
  const supervised = await keepRunning({
    start: async () => {
      starts += 1;
      if (starts === 1) return first;
      restarting.resolve();
      return ready.promise;
    },
    maxFirstAttempts: 1,
    log: createLog("silent"),
  });
  first.kill();
  await restarting.promise;
  const stopped = supervised.stop();
  ready.resolve(second);
  await stopped;
  expect(await second.exited).toBe("exit code 0");
});
