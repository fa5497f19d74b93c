import { elapsed, sleep } from "../../../clock.ts";

const hurriedMs = 3_000;

/**
 * Stops one PostgreSQL: fast (it writes a checkpoint), then immediate, then by force. Before each signal `alive` is asked whether
 * this is still the same process, so that a pid which was given to another in the meantime is never signalled.
 */
export async function stopProcess({
  pid,
  alive,
  graceMs,
  hurry,
}: {
  pid: number;
  alive: () => Promise<boolean>;
  graceMs: number;
  /** Aborted: the fast stop has only a moment left. */
  hurry?: AbortSignal | undefined;
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
      // It ended between the question and the signal.
    }
    const start = elapsed();
    while (elapsed() - start < (hurry?.aborted ? Math.min(waitMs, hurriedMs) : waitMs)) {
      if (!(await alive())) return;
      await sleep(20);
    }
  }
}
