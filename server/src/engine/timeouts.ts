/** In milliseconds. All are finite, so that a hanging model fails the run. */
export interface Timeouts {
  /** To open a connection to the model. Enforced by the transport (`createLeanFetch`). */
  readonly connectMs: number;
  /**
   * From sending a streamed call to its response headers. Plain calls have only `stepMs`, since
   * their response starts when the answer is complete.
   */
  readonly firstByteMs: number;
  /**
   * Between two chunks of a response. Enforced by the transport, which also sees the keep-alive
   * comments that providers send while a model reasons.
   */
  readonly idleMs: number;
  /**
   * One step with all attempts and the waits between them: the maximum time that a broken model can
   * hold a run.
   */
  readonly stepMs: number;
}

/** The timeouts of production. */
export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  idleMs: 60_000,
  stepMs: 600_000,
};

/** How often and how fast a failed model call is retried. */
export interface RetryPolicy {
  /** Maximum attempts, the first included. */
  readonly maxAttempts: number;
  /** Upper bound of the first wait in milliseconds; doubles with each attempt. */
  readonly baseWaitMs: number;
  /** Upper bound of any wait in milliseconds, except one that the provider asked for. */
  readonly maxWaitMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  maxAttempts: 4,
  baseWaitMs: 500,
  maxWaitMs: 30_000,
};
