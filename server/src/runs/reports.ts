import type { NewEvent, RunErrorCode, TokenUsage } from "@beckon/contract";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics/index.ts";
import type {
  EndedAttempt,
  MeteredCall,
  OutageListener,
  Outcome,
  ReportedCall,
} from "../engine/index.ts";

/** A run whose end is reported. `agentId` is undefined if the caller does not know it. */
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
  /** The metered calls that the events report. */
  readonly calls: readonly ReportedCall[];
  /** Set if the events end the run. */
  readonly outcome: Outcome | undefined;
  /** Number of model calls of the run with a response, up to now. */
  readonly steps: number;
  /**
   * Time since the run first started, in milliseconds. It does not include the time from when a
   * process was declared dead or released the run until the next claim.
   */
  readonly elapsedMs: number;
}

/** The run and the model of an attempt of a model call. */
export interface AttemptingRun {
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  /** The model, as `provider/model`. */
  readonly modelName: string;
  /** The time limit of the run if it stopped the attempt, in milliseconds; else undefined. */
  readonly reachedLimitMs: number | undefined;
}

/** Reports runs to the log and the metrics. What a journal has is reported after the commit. */
export interface RunReports {
  /** Gets the outages of the models that runs call. */
  readonly outages: OutageListener;
  /** Must be called when an attempt of a model call has ended. */
  attempted(attempt: EndedAttempt, run: AttemptingRun): void;
  /** Must be called after each journal write of a process that executes the run. */
  written(written: Written): void;
  /** Must be called for a run that ended without being executed by a living process. */
  ended(run: EndedRun, end: End, steps?: number): void;
  /** Must be called for a start that a limit rejects and that creates no run. */
  rejected(code: string): void;
  /** Must be called for runs that one statement ended because they were queued or held too long. */
  expired(runs: { readonly queued: number; readonly held: number }): void;
  /** Must be called when this process resumes runs that other processes began. */
  resumed(runs: number): void;
}

/** Creates the reports of one process. */
export function createRunReports(log: Log, metrics: Metrics): RunReports {
  const { providers, rateLimits } = log.outages;

  function reportEnd({ runId, agentId }: EndedRun, end: End, steps: number, durationMs?: number) {
    const { status, error } = end;
    metrics.count("beckon_runs_ended_total", [status, error?.code ?? ""]);
    if (durationMs !== undefined)
      metrics.observe("beckon_run_duration_seconds", [status], durationMs / 1_000);
    if (error && limitCodes.has(error.code))
      metrics.count("beckon_limit_rejections_total", [error.code]);
    log.write("run ended", {
      run_id: runId,
      agent_id: agentId,
      status,
      error_code: error?.code,
      duration_ms: durationMs === undefined ? undefined : Math.round(durationMs),
      steps,
      input_tokens: end.usage?.input_tokens ?? 0,
      output_tokens: end.usage?.output_tokens ?? 0,
      cost_micros: end.usage === undefined ? 0 : end.cost_micros,
    });
  }

  /**
   * Reports whether the last model call of the run succeeded. An answer that ends the run as
   * failed, for example because it is truncated, is no failure of the provider, nor is a run that
   * failed before its model was known. `attempted` reports providers that do not respond until the
   * run's time limit.
   */
  function reportProvider(written: Written): void {
    const { runId, workspaceId, agentId, modelName, events, outcome } = written;
    if (modelName === undefined) return;
    if (events.some(({ type }) => type === "run.step")) {
      providers.succeeded(outageKey(workspaceId, modelName));
      rateLimits.succeeded(outageKey(workspaceId, modelName));
      return;
    }
    if (outcome?.status !== "failed") return;
    const { error, logMessage = error.message } = outcome;
    if (error.code === "model_error" || error.code === "model_timeout")
      providers.failed(outageKey(workspaceId, modelName), {
        workspace_id: workspaceId,
        model: modelName,
        run_id: runId,
        agent_id: agentId,
        error_code: error.code,
        reason: logMessage,
      });
  }

  return {
    outages: {
      // While runs wait for a model that is down, none of them ends, so the log would say nothing.
      failed: ({ owner, model }, { kind, message }) =>
        providers.failed(outageKey(owner, model), {
          workspace_id: owner,
          model,
          error_code: kind === "timeout" ? "model_timeout" : "model_error",
          reason: message,
        }),
      ended: ({ owner, model }) => providers.succeeded(outageKey(owner, model)),
    },
    attempted({ outcome, silentMs, rateLimit }, run) {
      metrics.count("beckon_model_calls_total", [outcome]);
      const { runId, workspaceId, agentId, modelName, reachedLimitMs } = run;
      if (rateLimit !== undefined)
        rateLimits.failed(outageKey(workspaceId, modelName), {
          workspace_id: workspaceId,
          model: modelName,
          run_id: runId,
          agent_id: agentId,
          reason: rateLimit,
        });
      if (reachedLimitMs === undefined || silentMs < reachedLimitMs / 2) return;
      providers.failed(outageKey(workspaceId, modelName), {
        workspace_id: workspaceId,
        model: modelName,
        run_id: runId,
        agent_id: agentId,
        error_code: "deadline_exceeded" satisfies RunErrorCode,
        reason: `The provider got the request and sent nothing for ${Math.round(silentMs / 1_000)} s, until the run's time limit.`,
      });
    },
    written(written) {
      const { events, calls, outcome } = written;
      for (const event of events) measureEvent(metrics, event);
      for (const { call } of calls) measureCall(metrics, call);
      reportProvider(written);
      if (outcome === undefined) return;
      reportEnd(written, { error: undefined, ...outcome }, written.steps, written.elapsedMs);
    },
    ended: (run, end, steps = 0) => reportEnd(run, end, steps),
    rejected: (code) => metrics.count("beckon_limit_rejections_total", [code]),
    expired({ queued, held }) {
      metrics.count("beckon_runs_ended_total", ["failed", "deadline_exceeded"], queued);
      metrics.count("beckon_runs_ended_total", ["cancelled", "cancelled"], held);
      if (queued > 0) log.write("queued runs expired", { runs: queued });
      if (held > 0) log.write("held runs expired", { runs: held });
    },
    resumed(runs) {
      metrics.count("beckon_runs_resumed_total", [], runs);
      log.write("runs resumed", { runs });
    },
  };
}

/**
 * Failures of one model in one workspace are one outage. Failures of all models of a provider are
 * not: a success of one model would end the outage of another one.
 */
function outageKey(workspaceId: string, modelName: string): string {
  return `${workspaceId} ${modelName}`;
}

/** Error codes of runs that ended because of a limit of money or usage. */
const limitCodes: ReadonlySet<string> = new Set([
  "plan_exhausted",
  "ceiling_reached",
  "price_unknown",
] satisfies RunErrorCode[]);

function measureEvent(metrics: Metrics, event: NewEvent): void {
  if (event.type === "run.step") {
    metrics.observe("beckon_model_call_duration_seconds", [], event.data.duration_ms / 1_000);
  } else if (event.type === "run.tool_result") {
    const { outcome, duration_ms: durationMs } = event.data;
    metrics.count("beckon_tool_calls_total", [outcome]);
    // A tool that was not called has no duration.
    if (outcome === "ok" || outcome === "error")
      metrics.observe("beckon_tool_call_duration_seconds", [], durationMs / 1_000);
  }
}

function measureCall(metrics: Metrics, { kind, usage }: MeteredCall): void {
  if (kind !== "model") return;
  for (const tokens of tokenKinds) {
    const count = usage[`${tokens}_tokens`] ?? 0;
    if (count > 0) metrics.count("beckon_model_tokens_total", [tokens], count);
  }
}

const tokenKinds = ["input", "output", "cached_input", "cache_write", "reasoning"] as const;
