import type { NewEvent, TokenUsage } from "@beckon/contract";
import type { Log } from "../base/log.ts";
import type { Outcome } from "../engine/index.ts";

/** A run whose end is reported. Without an agent if the statement that ended the run lacks it. */
interface EndedRun {
  readonly runId: string;
  readonly agentId?: string;
}

/** How a run ended. */
interface End {
  readonly status: Outcome["status"];
  readonly error?: { readonly code: string; readonly message: string } | null | undefined;
  readonly usage?: TokenUsage;
  readonly cost_micros?: number | null;
}

/** What a process that executes a run has just written to its journal. */
export interface Written {
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  /** The model, as `provider/model`; undefined if the run failed before its model was known. */
  readonly modelName: string | undefined;
  readonly events: readonly NewEvent[];
  /** Set if the events end the run. */
  readonly outcome: Outcome | undefined;
  /** Number of model calls of the run so far. */
  readonly steps: number;
  /** Time since the run first started, in milliseconds. */
  readonly elapsedMs: number;
}

/** Reports what happens to runs to the log. Called after the commit, never before. */
export interface RunReports {
  /** Must be called after each journal write of a process that executes the run. */
  written(written: Written): void;
  /** Must be called for a run that ended without being executed by a living process. */
  ended(run: EndedRun, end: End, steps?: number): void;
  /** Must be called for queued runs that one statement ended because they were too old. */
  expired(runs: number): void;
  /** Must be called when this process resumes runs that other processes began. */
  resumed(runs: number): void;
}

/** Creates the reports of one process. */
export function createRunReports(log: Log): RunReports {
  const { providers } = log.outages;

  function reportEnd({ runId, agentId }: EndedRun, end: End, steps: number, durationMs?: number) {
    log.write("run ended", {
      run_id: runId,
      agent_id: agentId,
      status: end.status,
      error_code: end.error?.code,
      duration_ms: durationMs === undefined ? undefined : Math.round(durationMs),
      steps,
      input_tokens: end.usage?.input_tokens ?? 0,
      output_tokens: end.usage?.output_tokens ?? 0,
      cost_micros: end.usage === undefined ? 0 : end.cost_micros,
    });
  }

  return {
    written(written) {
      const { runId, agentId, events, outcome } = written;
      const provider = providerKey(written);
      for (const event of events) if (event.type === "run.step") providers.succeeded(provider);
      if (outcome === undefined) return;
      const error = outcome.status === "failed" ? outcome.error : undefined;
      if (error?.code === "model_error" || error?.code === "model_timeout")
        providers.failed(provider, {
          run_id: runId,
          agent_id: agentId,
          error_code: error.code,
          reason: error.message,
        });
      reportEnd(written, { error: undefined, ...outcome }, written.steps, written.elapsedMs);
    },
    ended: (run, end, steps = 0) => reportEnd(run, end, steps),
    expired: (runs) => log.write("queued runs expired", { runs }),
    resumed: (runs) => log.write("runs resumed", { runs }),
  };
}

/** Failures of one provider in one workspace are one outage. */
function providerKey({ workspaceId, modelName, agentId }: Written): string {
  return `${workspaceId} ${modelName?.split("/", 1)[0] ?? agentId}`;
}
