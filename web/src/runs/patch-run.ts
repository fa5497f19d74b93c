import type { JournalEvent, Run } from "@beckon/client";

/** Returns whether the run has ended. The state of an ended run never changes. */
export function isEnded({ finished_at }: Pick<Run, "finished_at">): boolean {
  return finished_at !== null;
}

/**
 * Returns the run after a journal entry. Entries must be applied in the order of their `seq`. A run
 * that has ended is returned unchanged.
 */
export function patchRun(run: Run, { type, seq, time, data }: JournalEvent): Run {
  if (isEnded(run)) return run;
  switch (type) {
    case "run.queued":
      // If this is not the first event, the run was held before or its process has released it. The
      // first event changes nothing, because it can arrive after the run has started.
      return seq > 1 ? { ...run, status: "queued" } : run;
    case "run.started":
      return { ...run, status: "running", started_at: run.started_at ?? time };
    case "run.resumed": {
      const attempt = Math.max(run.attempt, Number(data.attempt) || 0);
      return { ...run, status: "running", attempt };
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

/**
 * Returns the ended run. Data above 64 KiB is not in the event: fields that it lacks keep their
 * values until the run is refetched.
 */
function ended(run: Run, status: string, time: string, data: JournalEvent["data"]): Run {
  const usage = (data.usage as Run["usage"] | undefined) ?? run.usage;
  const cost = typeof data.cost_micros === "number" ? data.cost_micros : run.cost_micros;
  return { ...run, status, usage, cost_micros: cost, finished_at: time };
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
