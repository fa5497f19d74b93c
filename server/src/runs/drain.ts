import type { Runtime } from "./runtime.ts";

/** Milliseconds that handing back may take, once the grace is over. */
const handBackMs = 4_000;

/**
 * Lets executing runs end within `graceMs`, then hands the rest back to the queue, for another process or the next start, at no cost of an
 * attempt. What cannot be handed back in time is taken over as from a dead process. The caller has closed the room.
 */
export async function drainRuns(runtime: Runtime, graceMs: number): Promise<void> {
  await allClosed(runtime, graceMs);
  for (const live of runtime.live.values()) live.stop("drain");
  await allClosed(runtime, handBackMs);
  if (runtime.live.size > 0) runtime.log.warn({ runs: runtime.live.size }, "runs could not be handed back before the process ends");
}

async function allClosed(runtime: Runtime, withinMs: number): Promise<void> {
  const late = AbortSignal.timeout(withinMs);
  while (runtime.live.size > 0 && !late.aborted) {
    const closed = [...runtime.live.values()].map((live) => live.whenClosed);
    await Promise.race([Promise.all(closed), new Promise((resolve) => late.addEventListener("abort", resolve, { once: true }))]);
  }
}
