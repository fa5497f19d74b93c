import type { JournalEvent, Run } from "@beckon/client";

/** The fields of a run that its journal entries change. */
export type RunState = Pick<
  Run,
  "status" | "attempt" | "output" | "error" | "usage" | "cost_micros" | "started_at" | "finished_at"
>;

/** Returns whether the run has ended. The state of an ended run never changes. */
export function isEnded({ finished_at }: Pick<Run, "finished_at">): boolean {
  return finished_at !== null;
}

/**
 * Returns the run after a journal entry. Entries must be applied in the order of their `seq`. A run
 * that has ended is returned unchanged.
 */
export function patchRun<State extends RunState>(
  run: State,
  { type, seq, time, data }: JournalEvent,
): State {
  if (isEnded(run)) return run;
  switch (type) {
    case "run.queued":
      // If this is not the first event, the run was held before or its process has released it. The
      // first event changes nothing, because it can arrive after the run has started.
      return seq > 1 ? { ...run, status: "queued" } : run;
    case "run.started":
      return { ...run, status: "running", started_at: run.started_at ?? time };
    case "run.waiting":
      // As with `run.queued`, the first event changes nothing.
      return seq > 1 ? { ...run, status: "waiting", started_at: null } : run;
    case "run.resumed": {
      const attempt = Math.max(run.attempt, Number(data.attempt) || 0);
      return { ...run, status: "running", attempt, started_at: run.started_at ?? time };
    }
    case "run.finished":
      return { ...ended(run, "succeeded", time, data), output: textOf(data.output) };
    case "run.failed":
    case "run.cancelled": {
      const status = type === "run.failed" ? "failed" : "cancelled";
      const error = (data.error as Run["error"] | undefined) ?? run.error;
      return { ...ended(run, status, time, data), error };
    }
    default:
      return run;
  }
}

/** Returns the ended run. Fields that a large event lacks keep their values. */
function ended<State extends RunState>(
  run: State,
  status: string,
  time: string,
  data: JournalEvent["data"],
): State {
  const usage = (data.usage as Run["usage"] | undefined) ?? run.usage;
  const cost = typeof data.cost_micros === "number" ? data.cost_micros : run.cost_micros;
  return { ...run, status, usage, cost_micros: cost, finished_at: time };
}

/** Returns whether a run is in an earlier state than after the entries of its whole journal. */
export function lacksState(run: RunState, entries: readonly JournalEvent[]): boolean {
  const { status, attempt } = entries.reduce(patchRun, run);
  return status !== run.status || attempt !== run.attempt;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : null);

/**
 * Returns the newer of two states of a run: the known one, or the one in a response. A response can
 * be older than events that arrived after the request.
 */
export function newerRun(known: Run | undefined, read: Run): Run {
  if (known === undefined || known.id !== read.id) return read;
  if (isEnded(known) && !isEnded(read)) return known;
  return known.attempt > read.attempt ? known : read;
}
