/**
 * Timeouts in milliseconds. All of them are finite, so that a model that does not answer makes the
 * run fail.
 */
export interface Timeouts {
  /**
   * Maximum time to open a connection to the model. The transport enforces it (`createLeanFetch`).
   */
  readonly connectMs: number;
  /**
   * Maximum time between two chunks of a streamed response, from its first content on. Keep-alive
   * comments are chunks too. Until the first content only `stepMs` applies, because a server can
   * send nothing for minutes while it reads the prompt or its model reasons.
   */
  readonly idleMs: number;
  /**
   * Maximum time of one step with all attempts and the waits between them. A broken model delays a
   * run by at most this time.
   */
  readonly stepMs: number;
}

/** The timeouts of production. */
export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  idleMs: 120_000,
  stepMs: 600_000,
};

/** How often and how fast a failed model call is retried. */
export interface RetryPolicy {
  /**
   * Maximum number of attempts, including the first one. Failed probes of an open circuit and
   * attempts that a rate limit rejected do not count (see `retries.ts`).
   */
  readonly maxAttempts: number;
  /** Upper bound of the first wait in milliseconds. The bound doubles with each attempt. */
  readonly baseWaitMs: number;
  /** Upper bound of any wait in milliseconds, except of a wait that the provider asked for. */
  readonly maxWaitMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  maxAttempts: 4,
  baseWaitMs: 500,
  maxWaitMs: 30_000,
};
