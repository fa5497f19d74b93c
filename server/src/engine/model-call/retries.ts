import { elapsed } from "../../base/clock.ts";
import type { Pass } from "../circuit/index.ts";
import { asSentence, ModelFailure } from "../model-failure.ts";
import type { RunRequest } from "../run-request.ts";
import { defaultRetryPolicy, type RetryPolicy } from "../timeouts.ts";
import type { Used } from "./used.ts";

/** Counts the failed attempts of one model call, and decides whether and when it is retried. */
export class Retries {
  readonly #request: RunRequest;
  readonly #policy: RetryPolicy;
  /** Failed attempts without failed probes of an open circuit. */
  #failedAttempts = 0;
  /** `#failedAttempts` without those that a rate limit rejected. */
  #countedAttempts = 0;
  #isWaitingRun = false;

  constructor(request: RunRequest) {
    this.#request = request;
    this.#policy = request.retry ?? defaultRetryPolicy;
  }

  /**
   * Whether the run counts as waiting because of a rate limit. It stays so during its next
   * attempts: otherwise runs that begin later would displace it.
   */
  get isWaitingRun(): boolean {
    return this.#isWaitingRun;
  }

  /**
   * Counts a failed attempt.
   * @param attempt `endsAt` is the time at which the step times out.
   * @returns the wait before the next attempt in milliseconds.
   * @throws {ModelFailure} if there is no next attempt.
   */
  waitAfter(
    failure: ModelFailure,
    { pass, used, endsAt }: { pass: Pass | undefined; used: Used | undefined; endsAt: number },
  ): number {
    const { circuit, deadlineAt = Infinity } = this.#request;
    const isStillDown = failure.unreachable && pass?.probe === true;
    if (failure.rateLimited) this.#isWaitingRun ||= circuit?.startWaiting() ?? true;
    // After a part of a streamed answer, which may be billed, the attempt counts.
    const isFree = failure.rateLimited && this.#isWaitingRun && used?.outcome !== "lost";
    if (!isStillDown) this.#failedAttempts += 1;
    if (!isStillDown && !isFree) this.#countedAttempts += 1;
    const isLast =
      this.#countedAttempts >= this.#policy.maxAttempts || (isStillDown && pass?.last === true);
    if (!failure.retryable || isLast) throw failure;
    const waitMs =
      failure.rateLimited && !this.#isWaitingRun
        ? briefWaitAfter(failure, this.#policy, this.#failedAttempts)
        : retryWait(this.#policy, this.#failedAttempts, failure.retryAfterMs);
    return waitWithin(failure, waitMs, Math.min(endsAt, deadlineAt));
  }

  /** Call this when the model call has ended: its run does not wait any more. */
  end(): void {
    if (this.#isWaitingRun) this.#request.circuit?.stopWaiting();
  }
}

/**
 * Returns the wait in milliseconds after a failed attempt: `retryAfterMs` plus an exponential
 * backoff with full jitter, so that runs that failed together do not retry together. The sum can be
 * longer than `maxWaitMs`: the caller compares it with the time left.
 *
 * @param attempt number of failed attempts so far, without failed probes of an open circuit. It is
 *   0 if only probes have failed. The backoff is then at most half of `baseWaitMs`.
 * @param retryAfterMs how long the provider asked to wait. Default 0.
 */
export function retryWait(
  { baseWaitMs, maxWaitMs }: RetryPolicy,
  attempt: number,
  retryAfterMs = 0,
  random = Math.random,
): number {
  return retryAfterMs + random() * Math.min(maxWaitMs, baseWaitMs * 2 ** (attempt - 1));
}

/** Maximum wait in milliseconds of a run that is not counted among the waiting runs. */
const maxBriefWaitMs = 5_000;

/**
 * Returns the wait after a rate limit of a run for which no capacity for waiting runs is left: as
 * `retryWait`, but at most `maxBriefWaitMs`.
 */
export function briefWait(...options: Parameters<typeof retryWait>): number {
  return Math.min(maxBriefWaitMs, retryWait(...options));
}

/**
 * Returns `waitMs`. If `waitMs` does not end before `endsAt`, but the wait that the provider asked
 * for does, returns only that wait.
 *
 * @throws {ModelFailure} if no wait ends before `endsAt`. Waiting is then useless, so the call
 *   fails at once. The message names the wait that the provider asked for, if any.
 */
function waitWithin(failure: ModelFailure, waitMs: number, endsAt: number): number {
  const leftMs = endsAt - elapsed();
  if (waitMs < leftMs) return waitMs;
  const { retryAfterMs } = failure;
  if (retryAfterMs === undefined) throw failure;
  if (retryAfterMs < leftMs) return retryAfterMs;
  throw asksTooMuch(failure, retryAfterMs, "which is longer than the time left");
}

/**
 * Returns the wait in milliseconds of a run for which no capacity for waiting runs is left.
 *
 * @throws {ModelFailure} the provider asked for a longer wait.
 */
function briefWaitAfter(failure: ModelFailure, retry: RetryPolicy, failedAttempts: number): number {
  const { retryAfterMs = 0 } = failure;
  if (retryAfterMs > maxBriefWaitMs)
    throw asksTooMuch(failure, retryAfterMs, "and too many runs already wait for models");
  return briefWait(retry, failedAttempts, retryAfterMs);
}

function asksTooMuch(failure: ModelFailure, retryAfterMs: number, why: string): ModelFailure {
  const asked = Math.ceil(retryAfterMs / 1000);
  return new ModelFailure(`${asSentence(failure.message)} It asks to wait ${asked} s, ${why}.`, {
    ...failure,
    retryable: false,
  });
}
