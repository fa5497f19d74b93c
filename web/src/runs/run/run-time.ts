import type { Run } from "@beckon/client";

/** How long a run has taken so far, or has waited for its start. */
export interface RunTime {
  readonly ms: number;
  readonly isWaiting: boolean;
}

/**
 * Returns the duration of a run, which begins with its start, as in lists and comparisons; before
 * the start, the time since its creation. Undefined if the run has ended without a start.
 * @param now Unix time of the server's clock in ms
 */
export function runTimeOf(
  run: Pick<Run, "created_at" | "started_at" | "finished_at">,
  now: number,
): RunTime | undefined {
  if (run.started_at === null && run.finished_at !== null) return undefined;
  const end = run.finished_at === null ? now : Date.parse(run.finished_at);
  const ms = Math.max(0, end - Date.parse(run.started_at ?? run.created_at));
  return { ms, isWaiting: run.started_at === null };
}
