import type { NewEvent, RunErrorCode, TokenUsage } from "@beckon/contract";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics/index.ts";
import type { MeteredCall, Outcome, ReportedCall } from "../engine/index.ts";

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

/** Reports runs to the log and the metrics, always after the commit. */
export interface RunReports {
  /** Must be called after each journal write of a process that executes the run. */
  written(written: Written): void;
  /** Must be called for a run that ended without being executed by a living process. */
  ended(run: EndedRun, end: End, steps?: number): void;
  /** Must be called for runs that one statement ended because they were queued or held too long. */
  expired(runs: { readonly queued: number; readonly held: number }): void;
  /** Must be called when this process resumes runs that other processes began. */
  resumed(runs: number): void;
}

/** Creates the reports of one process. */
export function createRunReports(log: Log, metrics: Metrics): RunReports {
  const { providers } = log.outages;

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
   * failed before its model was known.
   */
  function reportProvider(written: Written): void {
    const { runId, workspaceId, agentId, modelName, events, outcome } = written;
    if (modelName === undefined) return;
    // Failures of one provider in one workspace are one outage.
    const provider = `${workspaceId} ${modelName.split("/", 1)[0]}`;
    if (events.some(({ type }) => type === "run.step")) {
      providers.succeeded(provider);
      return;
    }
    const error = outcome?.status === "failed" ? outcome.error : undefined;
    if (error?.code === "model_error" || error?.code === "model_timeout")
      providers.failed(provider, {
        run_id: runId,
        agent_id: agentId,
        error_code: error.code,
        reason: error.message,
      });
  }

  return {
    written(written) {
      const { events, calls, outcome } = written;
      for (const event of events) measureEvent(metrics, event);
      for (const { call } of calls) measureCall(metrics, call);
      reportProvider(written);
      if (outcome === undefined) return;
      reportEnd(written, { error: undefined, ...outcome }, written.steps, written.elapsedMs);
    },
    ended: (run, end, steps = 0) => reportEnd(run, end, steps),
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

function measureCall(metrics: Metrics, { kind, outcome, usage }: MeteredCall): void {
  if (kind !== "model") return;
  metrics.count("beckon_model_calls_total", [outcome]);
  for (const tokens of tokenKinds) {
    const count = usage[`${tokens}_tokens`] ?? 0;
    if (count > 0) metrics.count("beckon_model_tokens_total", [tokens], count);
  }
}

const tokenKinds = ["input", "output", "cached_input", "cache_write", "reasoning"] as const;
