import type { ErrorCode } from "@beckon/contract";

/** A limit that a caller has come to or comes closer to, as the headers `RateLimit-Policy` and `RateLimit` tell it. */
export interface AppliedLimit {
  readonly policy: string;
  readonly quota: number;
  /** Default: requests. */
  readonly unit?: "concurrent-requests";
  readonly windowSeconds?: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/**
 * A refusal: nothing was started, nothing was changed. `message` is for the caller: what was wrong and what to do, without
 * secrets. `http/errors.ts` maps each code to its status.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  /** Seconds after which a repeat may succeed; becomes `Retry-After`. */
  readonly retryAfter: number | undefined;
  readonly limit: AppliedLimit | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { retryAfter?: number; limit?: AppliedLimit | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfter = options.retryAfter;
    this.limit = options.limit;
  }
}

/** A value, or the error that its caller gets when its turn in the order of errors comes. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: ApiError };

/** The result of `work`; only a `ApiError` becomes one, anything else is thrown on. */
export function attempt<T>(work: () => T): Result<T> {
  try {
    return { ok: true, value: work() };
  } catch (thrown) {
    return failed(thrown);
  }
}

/** As `attempt`, for asynchronous work. */
export async function attemptAsync<T>(work: () => Promise<T>): Promise<Result<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (thrown) {
    return failed(thrown);
  }
}

function failed(thrown: unknown): Result<never> {
  if (thrown instanceof ApiError) return { ok: false, refusal: thrown };
  throw thrown;
}

/** The value. @throws the refusal. */
export function orThrow<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw result.refusal;
}

/**
 * Beckon cannot start as it is set up: a wrong setting, a database it must not use. The message names what is wrong, what was
 * found and the remedy; the process exits with 78 (EX_CONFIG) and is not restarted.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The message of anything that was thrown, for logs. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
