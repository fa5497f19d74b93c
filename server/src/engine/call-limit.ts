import type { LimitReached, RunError } from "@beckon/contract";
import type { MeteredCall } from "./metered-call.ts";

/** An attempt of a model call that is about to be made. */
export interface PlannedAttempt {
  /** Returns the size of the request in bytes of UTF-8. */
  readonly bytes: () => number;
  /** Earlier attempts of the same model call, which are not in the journal yet. */
  readonly earlier: readonly MeteredCall[];
  /** Returns the cost of the run's calls in the journal; null if it is not known. */
  readonly runCostMicros: () => number | null;
}

/** How an attempt is limited. */
export interface AttemptLimit {
  readonly maxOutputTokens: number;
  /**
   * Returns how the run ends if the answer is truncated; undefined if it was not truncated at
   * `maxOutputTokens`. It is undefined itself if that number was not lowered because of what is
   * left of a limit.
   * @param calls all attempts of the model call. The last one is the answered one.
   */
  readonly endOfTruncated: ((calls: readonly MeteredCall[]) => LimitEnd | undefined) | undefined;
}

/**
 * Reserves what an attempt can use at most. Returns undefined if no limit applies. The promise
 * resolves when it is reserved.
 *
 * @throws {LimitStop} the attempt must not be made.
 * @throws the reason of the signal.
 */
export type LimitAttempt = (
  attempt: PlannedAttempt,
  signal: AbortSignal,
) => Promise<AttemptLimit | undefined> | undefined;

/** How a run ends that has reached a limit. */
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
