import type { BeckonError } from "./error.ts";

export interface Tried {
  readonly tries: number;
  readonly retries: number;
  readonly repeatable: boolean;
}

/** Milliseconds. */
const first = 500;
const longest = 8_000;
/** Who is asked to wait longer is told instead. */
const maxRetryAfterMs = 60_000;

/**
 * Milliseconds until a call is tried again, or undefined: it is not. A refusal says that nothing was done, so anything may be repeated after
 * it; where the answer was lost, what it would have said is unknown, and only what may happen twice, or happens once by its key, is.
 */
export function delayBefore(
  failure: BeckonError,
  { tries, retries, repeatable }: Tried,
): number | undefined {
  const { retryAfter } = failure;
  if (tries > retries || !(isRefusal(failure) || (isLost(failure) && repeatable))) return undefined;
  const own = jitter(Math.min(first * 2 ** (tries - 1), longest));
  if (retryAfter === undefined) return own;
  const asked = retryAfter * 1_000;
  return asked > maxRetryAfterMs ? undefined : asked + own / 2;
}

/** The server says that it has not done it. */
function isRefusal({ status, retryAfter }: BeckonError): boolean {
  return status === 429 || (status === 503 && retryAfter !== undefined);
}

/** Whether it was done is unknown. */
export function isLost(failure: BeckonError): boolean {
  const { status, code } = failure;
  return (
    !isRefusal(failure) &&
    (code === "no_answer" || status === 502 || status === 503 || status === 504)
  );
}

/** Between a half and the whole, so that those who were cut together do not come back together. */
export function jitter(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}

/** @throws the signal's reason. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return void reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
