/** Milliseconds. None of them is infinite: running out of one is a clear failure, not a hang. */
export interface Timeouts {
  /** To open a connection to the model. Held by the transport (`createLeanFetch`). */
  readonly connectMs: number;
  /** From sending a streamed call to the head of its answer. A plain call answers when all is said, so it has only `stepMs`. */
  readonly firstByteMs: number;
  /**
   * Between two pieces of an answer that has begun. Held by the transport, which sees the comments that providers send to
   * keep a thinking model's stream alive; the loop sees only words and would take them for silence.
   */
  readonly idleMs: number;
  /** One step with all its tries and the waits between them: one number to know how long a broken model can hold a run. */
  readonly stepMs: number;
}

/** The timeouts of a run in production, in milliseconds. */
export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  idleMs: 60_000,
  stepMs: 600_000,
};

/** How often and how fast a failed model call is repeated. */
export interface RetryPolicy {
  /** Tries in all, the first included. */
  readonly tries: number;
  /** Bound of the first wait in milliseconds; doubled with each try. */
  readonly baseMs: number;
  /** Bound of any wait in milliseconds, save one that the provider asked for. */
  readonly capMs: number;
}

export const defaultRetryPolicy: RetryPolicy = { tries: 4, baseMs: 500, capMs: 30_000 };
