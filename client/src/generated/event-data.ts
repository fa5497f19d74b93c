/** Types of the data of events. Generated: `node script/client.ts` makes them from the contract. */

export interface JournalEventData {
  "run.queued": {
    calls_reported?: true;
    [k: string]: unknown;
  };
  "run.waiting": {
    [k: string]: unknown;
  };
  "run.started": {
    [k: string]: unknown;
  };
  "run.resumed": {
    attempt: number;
    [k: string]: unknown;
  };
  "run.step": {
    step?: number;
    model?: string;
    parts?: (
      | {
          type: "text";
          text?: string;
          provider_metadata?: unknown;
          bytes?: number;
        }
      | {
          type: "reasoning";
          text?: string;
          provider_metadata?: unknown;
          bytes?: number;
        }
      | {
          type: "tool_call";
          call_id: string;
          tool: string;
          arguments?: string;
          provider_metadata?: unknown;
          bytes?: number;
        }
    )[];
    finish_reason?: "stop" | "length" | "content_filter" | "tool_calls" | "other";
    usage?: {
      input_tokens: number;
      output_tokens: number;
      cached_input_tokens: number;
      cache_write_tokens?: number;
      reasoning_tokens?: number;
      estimated?: boolean;
    };
    cost_micros?: number | null;
    duration_ms?: number;
    retries?: number;
    artifact_id?: string;
    bytes?: number;
    [k: string]: unknown;
  };
  "run.step_lost": {
    step: number;
    model: string;
    usage: {
      input_tokens: number;
      output_tokens: number;
      cached_input_tokens: number;
      cache_write_tokens?: number;
      reasoning_tokens?: number;
      estimated?: boolean;
    };
    cost_micros?: number | null;
    reason: "process_lost" | "cancelled" | "deadline_exceeded";
    [k: string]: unknown;
  };
  "run.tool_call": {
    step?: number;
    call_id?: string;
    tool?: string;
    arguments?: unknown;
    idempotency_key?: string;
    artifact_id?: string;
    bytes?: number;
    [k: string]: unknown;
  };
  "run.tool_result": {
    step?: number;
    call_id?: string;
    tool?: string;
    outcome?: "ok" | "error" | "refused" | "unknown";
    result?: unknown;
    duration_ms?: number;
    artifact_id?: string;
    bytes?: number;
    [k: string]: unknown;
  };
  "run.finished": {
    output?: string;
    usage?: {
      input_tokens: number;
      output_tokens: number;
      cached_input_tokens: number;
      cache_write_tokens?: number;
      reasoning_tokens?: number;
      estimated?: boolean;
    };
    cost_micros?: number | null;
    artifact_id?: string;
    bytes?: number;
    output_bytes?: number;
    [k: string]: unknown;
  };
  "run.failed": {
    error: {
      /**
       * Reserved, not produced yet: tool_error.
       */
      code:
        | "model_error"
        | "model_timeout"
        | "tool_error"
        | "step_limit"
        | "deadline_exceeded"
        | "plan_exhausted"
        | "ceiling_reached"
        | "price_unknown"
        | "mapping_error"
        | "interrupted"
        | "cancelled";
      message: string;
    };
    limit?: {
      scope: "plan" | "workspace" | "agent" | "key" | "trigger" | "run";
      scope_id: string;
      metric: "cost" | "tokens" | "voice" | "browser";
      used: number;
      limit: number;
      needed?: number;
      resets_at: string | null;
    };
    usage: {
      input_tokens: number;
      output_tokens: number;
      cached_input_tokens: number;
      cache_write_tokens?: number;
      reasoning_tokens?: number;
      estimated?: boolean;
    };
    cost_micros: number | null;
    [k: string]: unknown;
  };
  "run.cancelled": {
    error: {
      /**
       * Reserved, not produced yet: tool_error.
       */
      code:
        | "model_error"
        | "model_timeout"
        | "tool_error"
        | "step_limit"
        | "deadline_exceeded"
        | "plan_exhausted"
        | "ceiling_reached"
        | "price_unknown"
        | "mapping_error"
        | "interrupted"
        | "cancelled";
      message: string;
    };
    usage: {
      input_tokens: number;
      output_tokens: number;
      cached_input_tokens: number;
      cache_write_tokens?: number;
      reasoning_tokens?: number;
      estimated?: boolean;
    };
    cost_micros: number | null;
    [k: string]: unknown;
  };
}
export interface WorkspaceEventData {
  "agent.paused": {
    reason: string | null;
    actor: string;
    [k: string]: unknown;
  };
  "agent.resumed": {
    actor: string;
    [k: string]: unknown;
  };
  "usage.threshold": {
    scope: "plan" | "workspace" | "agent" | "key" | "trigger" | "run";
    scope_id: string;
    metric: "cost" | "tokens" | "voice" | "browser";
    used: number;
    limit: number;
    percent: 50 | 80 | 100;
    resets_at: string;
    [k: string]: unknown;
  };
  "subscription.disabled": {
    subscription_id: string;
    url: string;
    reason: "failing" | "gone" | "backlog";
    [k: string]: unknown;
  };
}
