import type { Outcome } from "../engine/index.ts";
import { readOutcome } from "./result-store.ts";
import type { RunRef } from "./run.ts";
import type { Runtime } from "./runtime.ts";
import { watchRun } from "./watch.ts";

/** Watches the run until it is over. @returns how it ended, or undefined when `signal` aborted first. */
export async function waitForRun(runtime: Runtime, run: RunRef, signal: AbortSignal): Promise<Outcome | undefined> {
  const live = runtime.live.get(run.runId);
  for await (const event of watchRun(runtime, run, { after: live?.base ?? 0, signal })) void event;
  return live?.outcome ?? (await readOutcome(runtime.database, run));
}
