import { elapsed, sleep } from "../../../clock.ts";

/** Maximum time to wait after each signal once `force` has aborted. */
const forcedMs = 3_000;

/**
 * Stops a PostgreSQL with up to three signals: SIGINT (fast shutdown, which writes a checkpoint),
 * SIGQUIT (immediate shutdown), SIGKILL. Calls `alive` before each signal, so that no other process
 * that now has the pid is signalled.
 */
export async function stopProcess({
  pid,
  alive,
  graceMs,
  force,
}: {
  pid: number;
  alive: () => Promise<boolean>;
  graceMs: number;
  /** Once aborted, each wait is shortened to 3 s. Default: waits are not shortened. */
  force?: AbortSignal | undefined;
}): Promise<void> {
  const steps = [
    { signal: "SIGINT", waitMs: graceMs },
    { signal: "SIGQUIT", waitMs: 5_000 },
    { signal: "SIGKILL", waitMs: 5_000 },
  ] as const;
  for (const { signal, waitMs } of steps) {
    if (!(await alive())) return;
    try {
      process.kill(pid, signal);
    } catch {
      // The process exited between the check and the signal.
    }
    const start = elapsed();
    while (elapsed() - start < (force?.aborted ? Math.min(waitMs, forcedMs) : waitMs)) {
      if (!(await alive())) return;
      await sleep(20);
    }
  }
}
