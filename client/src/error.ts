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

  constructor({ code, message, status, runId, retryAfter, cause }: BeckonErrorInit) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.runId = runId;
    this.retryAfter = retryAfter;
  }
}

/**
 * Returns a copy of a `BeckonError` with `runId` set. Returns `thrown` itself if it is another
 * value, if it already has a run id, or if `runId` is undefined.
 */
export function withRunId(thrown: unknown, runId: string | undefined): unknown {
  if (!(thrown instanceof BeckonError) || thrown.runId !== undefined || runId === undefined)
    return thrown;
  const { code, message, status, retryAfter, cause } = thrown;
  return new BeckonError({ code, message, status, runId, retryAfter, cause });
}
