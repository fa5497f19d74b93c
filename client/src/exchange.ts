import { type Call, maxRepeatMs, type PreparedRequest, prepare } from "./call.ts";
import { BeckonError, lastFailure, withIdempotencyKey } from "./error.ts";
import type { CallOptions, LabelOptions, OnceOptions, Settings } from "./options.ts";
import { ensureOk } from "./response.ts";
import { delayBefore, isDecisive, isUnsent, mayBeExecuted, sleep } from "./retry.ts";

/** Reads a successful response. If it throws, the attempt counts as failed and can be repeated. */
export type Read<T> = (response: Response, operation: string) => Promise<T>;

const defaultRetries = 5;
const defaultTryTimeoutMs = 60_000;
/**
 * Maximum delay of `setTimeout`, 24 days. With a longer one, such as `Infinity`, the timer would
 * fire at once.
 */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Sends a call and reads the response. Repeats the call after an error if a repeat is safe and can
 * succeed.
 * @throws BeckonError if the call fails, with `idempotencyKey` if it is not known whether the
 *   server executed the call; the reason of the caller's signal if it aborts; TypeError if an
 *   argument is invalid
 */
export async function exchange<T>(
  settings: Settings,
  call: Call,
  options: CallOptions & OnceOptions & LabelOptions,
  read: Read<T>,
): Promise<T> {
  const prepared = prepare(settings, call, options);
  const { operation, repeatable } = prepared;
  const retries = options.retries ?? settings.retries ?? defaultRetries;
  const { signal, release } = withTimeout(options);
  const beganAt = Date.now();
  let outcomeUnknown = false;
  /** The error of the last attempt; undefined while an attempt is in progress. */
  let failed: BeckonError | undefined;
  try {
    for (let tries = 1; ; tries++) {
      try {
        failed = undefined;
        return await attempt(
          settings,
          prepared,
          { signal, timeoutMs: options.tryTimeout ?? defaultTryTimeoutMs },
          read,
        );
      } catch (thrown) {
        signal.throwIfAborted();
        if (!(thrown instanceof BeckonError)) throw thrown;
        failed = thrown;
        // If the response to an earlier attempt was lost, `not_found` means that this earlier
        // attempt has deleted the resource, so the call has succeeded. A 404 without this code
        // comes from a proxy and does not show that.
        const isGone = thrown.status === 404 && thrown.code === "not_found";
        if (outcomeUnknown && call.method === "DELETE" && isGone)
          return await read(new Response(null, { status: 204 }), operation);
        if (!isUnsent(thrown))
          outcomeUnknown = mayBeExecuted(thrown) || (outcomeUnknown && !isDecisive(thrown));
        const delay = delayBefore(thrown, { tries, retries, repeatable });
        if (delay === undefined) throw thrown;
        await sleep(delay, signal);
        // The timer of `signal` does not count the time that the machine is suspended, so the clock
        // is checked too.
        if (options.timeout !== undefined && Date.now() - beganAt >= options.timeout)
          throw new TimedOut();
        if (call.once && Date.now() - beganAt >= maxRepeatMs) throw thrown;
      }
    }
  } catch (thrown) {
    const key = prepared.init.headers["idempotency-key"];
    if (!(thrown instanceof TimedOut))
      throw outcomeUnknown ? withIdempotencyKey(thrown, key) : thrown;
    // The server may execute an attempt in progress, but no attempt was sent during a pause.
    const isUnknown = outcomeUnknown || failed === undefined;
    throw timedOut(operation, options.timeout, isUnknown ? key : undefined, failed);
  } finally {
    release();
  }
}

/**
 * Sends one request and reads its response.
 * @throws BeckonError for an error response; `no_answer` for network errors and after `timeoutMs`;
 *   the signal's reason if the signal aborts
 */
export async function attempt<T>(
  settings: Settings,
  { url, init, operation }: PreparedRequest,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
  read: Read<T>,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  const timer = setTimeout(
    () => controller.abort(new Error(`no response within ${timeoutMs} ms`)),
    Math.min(timeoutMs, maxTimerMs),
  );
  signal.addEventListener("abort", stop, { once: true });
  try {
    // Called as a method of `settings`, `window.fetch` throws "Illegal invocation".
    const { fetch } = settings;
    const response = await fetch(url, { ...init, signal: controller.signal });
    return await read(await ensureOk(response, operation), operation);
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof BeckonError) throw thrown;
    throw new BeckonError({
      code: "no_answer",
      message: `${operation} got no response from ${new URL(url).origin}: ${reasonOf(thrown, url)}`,
      cause: thrown,
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Returns the message of the error's cause, because the error of `fetch` itself says only
 * `fetch failed`. Without a cause, returns the error's own message. For TLS errors, returns the
 * code of the cause, because its message is an unreadable line of OpenSSL's error queue. The URL,
 * which some runtimes write into the message, is reduced to its origin: it can contain a token.
 */
function reasonOf(thrown: unknown, url: string): string {
  const { message, cause } = thrown as {
    message?: string;
    cause?: { message?: string; code?: string };
  };
  if (cause?.code?.startsWith("ERR_SSL_")) return cause.code;
  const reason = cause?.message || cause?.code || message || String(thrown);
  const { href, origin } = new URL(url);
  return reason.replaceAll(url, origin).replaceAll(href, origin);
}

/** Reason of the signal of `withTimeout` after the timeout. */
export class TimedOut extends Error {}

/**
 * Returns the error of a call that took longer than its option `timeout`, in milliseconds.
 * @param cause the error of the last attempt, if the timeout ended before another attempt
 */
export function timedOut(
  operation: string,
  timeout: number | undefined,
  idempotencyKey?: string,
  cause?: BeckonError,
): BeckonError {
  const hint = lastFailure(cause) || " Check the server or raise timeout.";
  return new BeckonError({
    code: "timed_out",
    message: `${operation} got no complete response within ${timeout} ms.${hint}`,
    idempotencyKey,
    cause,
  });
}

/**
 * Combines the caller's signal and timeout into one signal, whose reason is `TimedOut` after the
 * timeout. `abort` aborts it too. `release` removes the timer and the listener on the caller's
 * signal.
 */
export function withTimeout({ signal, timeout }: CallOptions): {
  signal: AbortSignal;
  abort: (reason: unknown) => void;
  release: () => void;
} {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => controller.abort(new TimedOut()), Math.min(timeout, maxTimerMs));
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    },
  };
}
