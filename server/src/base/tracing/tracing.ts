import type { Log } from "../log.ts";

/**
 * All attributes of spans. Names with a prefix other than `beckon` are defined by the semantic
 * conventions of OpenTelemetry: https://opentelemetry.io/docs/specs/semconv/ and, for `gen_ai`,
 * version 0.1 of https://github.com/open-telemetry/semantic-conventions-genai. Never add an
 * attribute for a prompt, an output, arguments, a result, an error message, a header, a path or a
 * query: they are data of tenants, and can contain secrets.
 */
export interface SpanAttributes {
  readonly "http.request.method"?: string | undefined;
  readonly "http.request.resend_count"?: number | undefined;
  readonly "http.response.status_code"?: number | undefined;
  readonly "http.route"?: string | undefined;
  readonly "url.scheme"?: "http" | "https" | undefined;
  readonly "server.address"?: string | undefined;
  readonly "server.port"?: number | undefined;
  readonly "error.type"?: string | undefined;
  readonly "gen_ai.operation.name"?: "invoke_agent" | "chat" | "execute_tool" | undefined;
  readonly "gen_ai.agent.name"?: string | undefined;
  readonly "gen_ai.agent.version"?: string | undefined;
  readonly "gen_ai.provider.name"?: string | undefined;
  readonly "gen_ai.request.model"?: string | undefined;
  readonly "gen_ai.request.stream"?: boolean | undefined;
  readonly "gen_ai.request.max_tokens"?: number | undefined;
  readonly "gen_ai.request.temperature"?: number | undefined;
  readonly "gen_ai.request.reasoning.level"?: string | undefined;
  readonly "gen_ai.response.model"?: string | undefined;
  readonly "gen_ai.response.finish_reasons"?: readonly string[] | undefined;
  readonly "gen_ai.usage.input_tokens"?: number | undefined;
  readonly "gen_ai.usage.output_tokens"?: number | undefined;
  readonly "gen_ai.usage.cache_read.input_tokens"?: number | undefined;
  readonly "gen_ai.usage.cache_write.input_tokens"?: number | undefined;
  readonly "gen_ai.usage.reasoning.output_tokens"?: number | undefined;
  readonly "gen_ai.tool.name"?: string | undefined;
  readonly "gen_ai.tool.call.id"?: string | undefined;
  readonly "beckon.request.id"?: string | undefined;
  readonly "beckon.workspace.id"?: string | undefined;
  readonly "beckon.agent.id"?: string | undefined;
  readonly "beckon.run.id"?: string | undefined;
  /** `succeeded`, `failed`, `cancelled`, or `interrupted` if this process did not end the run. */
  readonly "beckon.run.status"?: string | undefined;
  readonly "beckon.run.resumed"?: boolean | undefined;
  readonly "beckon.step"?: number | undefined;
  /** Attempts of a model call that were sent to the provider. */
  readonly "beckon.attempts"?: number | undefined;
  readonly "beckon.event.id"?: string | undefined;
  readonly "beckon.event.type"?: string | undefined;
  readonly "beckon.delivery.id"?: string | undefined;
  readonly "beckon.subscription.id"?: string | undefined;
}

/** One operation in a trace. None of the functions throws. */
export interface TraceSpan {
  /** Value of the header `traceparent` for requests that belong to this operation. */
  readonly traceparent: string;
  /** Starts an operation that is part of this one. */
  child(name: string, kind: "internal" | "client", attributes: SpanAttributes): TraceSpan;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /**
   * Ends the operation.
   * @param errorType `error.type` if the operation failed: one of a few fixed texts, never a
   *   message
   */
  end(errorType?: string): void;
}

/** The trace of an HTTP request. */
export interface RequestTrace {
  /**
   * Must be called when the request has started a run, before the run executes. The request's span
   * is then in the run's trace, unless it is in the caller's trace.
   */
  startRun(runId: string): void;
  /** Ends the span of the request. Parameters are those of `TraceSpan.end`. */
  end(name: string, attributes: SpanAttributes, errorType?: string): void;
}

/** A run that this process executes. */
interface TracedRun {
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  /** Whether another process may have executed a part of the run. */
  readonly resumed: boolean;
  /**
   * Trace of the request that started the run. Undefined if another process received the request,
   * and for runs that were queued and then claimed.
   */
  readonly trace?: RequestTrace | undefined;
}

/** Creates and exports the spans of this process. Exists only if traces are on. */
export interface Tracing {
  /**
   * Returns the trace of a request.
   * @param traceparent the request's header `traceparent`; ignored if it is malformed
   */
  request(traceparent: string | undefined): RequestTrace;
  /** Starts the span of an execution of a run. */
  run(run: TracedRun): TraceSpan;
  /** Starts the span of one attempt of a delivery. `runId` is null if the event has no run. */
  delivery(runId: string | null, attributes: SpanAttributes): TraceSpan;
  /**
   * Exports the spans that have ended. Waits at most `maxWaitMs` for this; a value below 1 second
   * counts as 1 second, a value above 5 seconds as 5 seconds.
   */
  close(maxWaitMs: number): Promise<void>;
}

/** What `createTracing` needs besides the settings. */
export interface TracingOptions {
  readonly log: Log;
  readonly processId: string;
  /**
   * Whether the header `traceparent` of requests is trusted. If true, the span of a request belongs
   * to the caller's trace. Otherwise the span only has a link to that trace.
   */
  readonly trustParent: boolean;
}
