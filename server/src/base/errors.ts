import type { ErrorCode, LimitReached, RunErrorCode } from "@beckon/contract";
import { exitCodes } from "./exit-codes.ts";

/** A rate limit that applied to the request, for the headers `RateLimit-Policy` and `RateLimit`. */
export interface AppliedLimit {
  readonly policy: string;
  readonly quota: number;
  /** What `quota` and `remaining` count. If undefined, they count requests. */
  readonly unit?: "concurrent-requests";
  readonly windowSeconds?: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/**
 * An error that is reported to the caller. Nothing was started or changed, with four exceptions:
 * after `unavailable`, the change may have been committed; after `too_large` because of the
 * response, it was committed, and `message` says so; if `runId` is set, a run was created that has
 * already failed; a replay of many requests may have started runs before the error, and `message`
 * then says how many. `message` says what was wrong and what to do, without secrets.
 * `http/errors.ts` maps each code to its status.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** A `RunErrorCode` only if a run was created that has already failed. */
  readonly code: ErrorCode | RunErrorCode;
  /** Seconds until a retry can succeed, sent as `Retry-After`; undefined for no such header. */
  readonly retryAfter: number | undefined;
  readonly rateLimit: AppliedLimit | undefined;
  /** The limit of money or usage that was reached; undefined if the error has another cause. */
  readonly limitReached: LimitReached | undefined;
  /**
   * Id of the run that was created for this request and has already failed; undefined if none was.
   */
  readonly runId: string | undefined;
  /** How to authenticate, sent as `WWW-Authenticate`; undefined for no such header. */
  readonly challenge: string | undefined;

  constructor(
    code: ErrorCode | RunErrorCode,
    message: string,
    options: {
      retryAfter?: number | undefined;
      rateLimit?: AppliedLimit | undefined;
      limitReached?: LimitReached | undefined;
      runId?: string;
      challenge?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfter = options.retryAfter;
    this.rateLimit = options.rateLimit;
    this.limitReached = options.limitReached;
    this.runId = options.runId;
    this.challenge = options.challenge;
  }
}

/**
 * A value or an error. The error is kept and thrown later, so that errors are reported in their
 * documented order.
 */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ApiError };

/**
 * Returns the value of `work`, or the `ApiError` that it threw.
 * @throws any other error of `work`.
 */
export function attempt<T>(work: () => T): Result<T> {
  try {
    return { ok: true, value: work() };
  } catch (thrown) {
    return failed(thrown);
  }
}

/** Like `attempt`, for asynchronous work. */
export async function attemptAsync<T>(work: () => Promise<T>): Promise<Result<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (thrown) {
    return failed(thrown);
  }
}

function failed(thrown: unknown): Result<never> {
  if (thrown instanceof ApiError) return { ok: false, error: thrown };
  throw thrown;
}

/** Returns the value of a result. @throws its error. */
export function orThrow<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw result.error;
}

/**
 * Beckon cannot start with this configuration, for example because of a wrong setting or an
 * unsuitable database. The message says what is wrong, what was found and how to fix it. A server
 * process exits with `exitCode`. It is restarted only if a server process has been ready before.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** One of `exitCodes`; 78 (EX_CONFIG) unless a subclass has another one. */
  readonly exitCode: number = exitCodes.invalidConfiguration;
}

/** Returns the message of any thrown value, for logs. */
export function messageOf(thrown: unknown): string {
  // If no address of a host accepts a connection, Node's error has messages only in `errors`.
  if (thrown instanceof AggregateError && thrown.message === "")
    return [...new Set(thrown.errors.map(messageOf))].join(", ");
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns the stack of an error, for logs; undefined for another thrown value. */
export function stackOf(thrown: unknown): string | undefined {
  return thrown instanceof Error ? thrown.stack : undefined;
}
