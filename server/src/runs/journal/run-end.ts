import type { LimitReached, RunStatus, TokenUsage } from "@beckon/contract";
import type { Outcome } from "../../engine/index.ts";

/** A run's outcome as it is written to the database. */
export interface RunEnd {
  readonly status: Extract<RunStatus, "succeeded" | "failed" | "cancelled">;
  readonly output: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly usage: TokenUsage;
  /** In micro-dollars; null if the price of a model call was unknown. */
  readonly costMicros: number | null;
  /** The limit that ended the run; undefined if none did. */
  readonly limit?: LimitReached | undefined;
}

/** Returns an outcome as it is written to the database. */
export function toEnd(outcome: Outcome): RunEnd {
  return {
    status: outcome.status,
    output: outcome.status === "succeeded" ? outcome.output : null,
    error: outcome.status === "succeeded" ? null : outcome.error,
    usage: outcome.usage,
    costMicros: outcome.cost_micros,
    limit: outcome.status === "failed" ? outcome.limit : undefined,
  };
}
