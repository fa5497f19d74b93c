import type { ErrorAnswer } from "./generated/schemas.ts";

/**
 * Where there is no answer of Beckon's: `no_answer`, the last try was cut, or found nobody; `timed_out`, the caller's `timeout` has passed;
 * `unexpected_answer`, something else answered.
 */
export type ClientCode = "no_answer" | "timed_out" | "unexpected_answer";

/** Codes are added by later versions: have a default. */
export type BeckonErrorCode = ErrorAnswer["code"] | ClientCode | (string & {});

export interface Failure {
  readonly code: BeckonErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly runId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** Why a call failed, in Beckon's words: they say what went wrong and what to do. Never with a credential. */
export class BeckonError extends Error {
  override readonly name = "BeckonError";
  readonly code: BeckonErrorCode;
  /** Of the HTTP answer, if there was one. */
  readonly status: number | undefined;
  /** The run that failed, or that goes on although the call is over. */
  readonly runId: string | undefined;
  /** Seconds after which it may go well. */
  readonly retryAfter: number | undefined;

  constructor({ code, message, status, runId, retryAfter, cause }: Failure) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.runId = runId;
    this.retryAfter = retryAfter;
  }
}

/** The same error, with the run it is about. */
export function aboutRun(thrown: unknown, runId: string | undefined): unknown {
  if (!(thrown instanceof BeckonError) || thrown.runId !== undefined || runId === undefined)
    return thrown;
  const { code, message, status, retryAfter, cause } = thrown;
  return new BeckonError({ code, message, status, runId, retryAfter, cause });
}
