import type { LimitReached, RunError } from "@beckon/contract";
import type { MeteredCall } from "./metered-call.ts";

/** An attempt of a model call that is about to be made. */
export interface PlannedAttempt {
  /** Returns the size of the request in bytes of UTF-8. */
  readonly bytes: () => number;
  /** Whether no attempt of the same model call was sent yet. */
  readonly isFirst: boolean;
  /**
   * Earlier attempts of the same model call that used tokens. They are not in the journal yet.
   */
  readonly earlier: readonly MeteredCall[];
  /** Returns the cost of the calls in the run's journal in micro-dollars; null if unknown. */
  readonly runCostMicros: () => number | null;
}

/** How an attempt is limited. */
export interface AttemptLimit {
  /** Undefined if the answer uses no limit of cost or tokens: it can have any length. */
  readonly maxOutputTokens: number | undefined;
  /**
   * False if only the run's own limit applied. Nothing is then reserved, because no other run can
   * use up this limit.
   */
  readonly isReserved: boolean;
  /**
   * Returns whether limits allow reusing the reservation for the next attempt. False if nothing is
   * reserved, or if limits may have changed since the reservation. The caller must also check that
   * no attempt has used tokens since then.
   */
  readonly coversNext: () => boolean;
  /**
   * Called for a truncated answer. Returns how the run ends; undefined if the answer is shorter
   * than `maxOutputTokens`. The function itself is undefined if no limit has lowered
   * `maxOutputTokens`: a truncated answer then does not mean that a limit is reached.
   * @param calls all attempts of the model call. The last one got the answer.
   */
  readonly endOfTruncated: ((calls: readonly MeteredCall[]) => LimitEnd | undefined) | undefined;
}

/** Returns whether the last one of `calls` used up its output bound, as far as is known. */
export function reachesBound(calls: readonly MeteredCall[], maxOutputTokens: number): boolean {
  const usage = calls.at(-1)?.usage;
  return usage !== undefined && (usage.estimated || usage.output_tokens >= maxOutputTokens);
}

/** An output bound that Beckon chose because the agent has not set `max_output_tokens`. */
export interface ChosenBound {
  readonly maxOutputTokens: number;
  /** `limit`: a limit applies to the run. `api`: the provider's API requires a bound. */
  readonly reason: "limit" | "api";
}

/** Explains an output bound that Beckon chose, which the agent's configuration does not show. */
export function explainBound({ maxOutputTokens, reason }: ChosenBound): string {
  const cause = {
    limit: "a limit of cost or usage applies",
    api: "the provider's API requires a maximum",
  }[reason];
  return `Because ${cause}, Beckon asked for at most ${maxOutputTokens} tokens of output.`;
}

/**
 * Reserves the maximum that an attempt can use, and resolves when this is reserved. If no limit
 * applies to the run, returns undefined or resolves to undefined.
 *
 * @throws {LimitStop} if the attempt must not be made.
 * @throws the signal's reason if the signal aborts first.
 */
export type LimitAttempt = (
  attempt: PlannedAttempt,
  signal: AbortSignal,
) => Promise<AttemptLimit | undefined> | undefined;

/**
 * The end of a run that must not continue because of a limit. `limit` is the limit that the run has
 * reached; undefined if a limit in money applies but the price of the model is unknown.
 */
export interface LimitEnd {
  readonly error: RunError;
  readonly limit?: LimitReached;
}

/** Thrown if a run must not call its model because of a limit. */
export class LimitStop extends Error {
  override readonly name = "LimitStop";
  readonly end: LimitEnd;

  constructor(end: LimitEnd) {
    super(end.error.message);
    this.end = end;
  }
}
