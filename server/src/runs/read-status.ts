import { readStoredStatus } from "./result-store.ts";
import type { RunRef } from "./run.ts";
import type { Runtime } from "./runtime.ts";

/** The run's state now, for who does not wait for more. */
export async function readStatus(runtime: Runtime, run: RunRef): Promise<string> {
  const live = runtime.live.get(run.runId);
  if (live !== undefined && live.outcome === undefined) return "running";
  return (await readStoredStatus(runtime.database, run)) ?? "queued";
}
