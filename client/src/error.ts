import type { ErrorAnswer } from "./generated/schemas.ts";

/**
 * Codes that the client itself gives to errors. `no_answer`: the connection failed, was lost or was
 * silent for too long. `timed_out`: the time of the option `timeout` has passed.
 * `unexpected_answer`: something other than Beckon responded, for example a proxy, or a repeated
 * invoke started a second run.
 */
export type ClientCode = "no_answer" | "timed_out" | "unexpected_answer";

/** Later versions can add codes, so handle unknown ones. */
export type BeckonErrorCode = ErrorAnswer["code"] | ClientCode | (string & {});

export interface BeckonErrorInit {
  readonly code: BeckonErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly runId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly limit?: ErrorAnswer["limit"] | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** A failed call. `message` says what happened and what to do, and never contains a credential. */
export class BeckonError extends Error {
  override readonly name = "BeckonError";
  readonly code: BeckonErrorCode;
  /** HTTP status of the response; undefined if there was none. */
  readonly status: number | undefined;
  /** Id of the run that failed, or that continues although the call has ended; else undefined. */
  readonly runId: string | undefined;
  /** Seconds to wait before another attempt; undefined if the response has no `Retry-After`. */
  readonly retryAfter: number | undefined;
  /**
   * The Idempotency-Key of the call if it is not known whether Beckon executed it, else undefined.
   * A repeat with this key and the same arguments within a day executes the call at most once.
   */
  readonly idempotencyKey: string | undefined;
  /** The limit that was reached, if a limit is the cause; else undefined. */
  readonly limit: ErrorAnswer["limit"] | undefined;
  /** The response's `beckon-request-id`, which Beckon's log has too; undefined if it has none. */
  readonly requestId: string | undefined;

  constructor(init: BeckonErrorInit) {
    const { message, cause } = init;
    super(message, cause === undefined ? undefined : { cause });
    this.code = init.code;
    this.status = init.status;
    this.runId = init.runId;
    this.retryAfter = init.retryAfter;
    this.idempotencyKey = init.idempotencyKey;
    this.limit = init.limit;
    this.requestId = init.requestId;
  }
}

/** Returns the error for a response that ended before its body was complete. */
export function truncated(operation: string, cause: unknown): BeckonError {
  const message = `The response to ${operation} was truncated.`;
  return new BeckonError({ code: "no_answer", message, cause });
}

function copyOf(error: BeckonError, changes: Partial<BeckonErrorInit>): BeckonError {
  const { message, cause } = error;
  // The spread has all fields but these two, which are not enumerable.
  return new BeckonError({ ...error, message, cause, ...changes });
}

/**
 * Returns a copy of a `BeckonError` with `runId` set, without `idempotencyKey`. Returns `thrown`
 * itself if it is another value, if it already has a run id, or if `runId` is undefined.
 */
export function withRunId(thrown: unknown, runId: string | undefined): unknown {
  if (!(thrown instanceof BeckonError) || thrown.runId !== undefined || runId === undefined)
    return thrown;
  return copyOf(thrown, { runId, idempotencyKey: undefined });
}

/**
 * Returns a copy of a `BeckonError` with `idempotencyKey` set. Returns `thrown` itself if it is
 * another value, if its run is known, or if the call has no Idempotency-Key.
 */
export function withIdempotencyKey(thrown: unknown, key: string | undefined): unknown {
  if (!(thrown instanceof BeckonError) || thrown.runId !== undefined || key === undefined)
    return thrown;
  return copyOf(thrown, { idempotencyKey: key });
}

/**
 * Returns the error of a call that starts a run. If it is not known whether the run was started,
 * the message says so.
 */
export function explainStart(thrown: unknown): unknown {
  if (!(thrown instanceof BeckonError) || thrown.idempotencyKey === undefined) return thrown;
  const message = thrown.message.replace(/\.?$/, ". It is not known whether the run was started.");
  return copyOf(thrown, { message });
}

/**
 * Returns a sentence, after a space, with the message of an earlier error for the message of a
 * timeout. Returns an empty string if `cause` is no error of the client.
 */
export function lastFailure(cause: unknown): string {
  if (!(cause instanceof BeckonError)) return "";
  return ` The last attempt failed: ${cause.message.replace(/\.?$/, ".")}`;
}
