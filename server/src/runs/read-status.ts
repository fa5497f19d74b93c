import { failureKind } from "../base/database/index.ts";
import { readStoredStatus } from "./result-store.ts";
import type { RunRef } from "./run.ts";
import type { Runtime } from "./runtime.ts";

/** The run's state now, for who does not wait for more; `queued`, as it was accepted, while the database cannot be asked. */
export async function readStatus(runtime: Runtime, run: RunRef): Promise<string> {
  const live = runtime.live.get(run.runId);
  if (live !== undefined && live.outcome === undefined) return "running";
  try {
    return (await readStoredStatus(runtime.database, run)) ?? "queued";
  } catch (thrown) {
    if (failureKind(thrown) !== "lost") throw thrown;
    return "queued";
  }
}
