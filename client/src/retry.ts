import type { BeckonError } from "./error.ts";

export interface RetryState {
  /** Attempts so far, 1 or more. */
  readonly tries: number;
  /** Maximum number of further attempts after the first one. */
  readonly retries: number;
  /** Whether sending the request twice has the same effect as sending it once. */
  readonly repeatable: boolean;
}

const firstDelayMs = 500;
const maxDelayMs = 8_000;
/** If `Retry-After` is longer than this, the call is not repeated and its error is thrown. */
const maxRetryAfterMs = 60_000;

/**
 * Returns the milliseconds to wait before the next attempt, or undefined if the call must not be
 * repeated or a repeat would fail too. After an error for which `canBeRepeated` is true, every call
 * can be repeated. If it is not known whether the server executed the call, only `repeatable` calls
 * can be.
 */
export function delayBefore(
  error: BeckonError,
  { tries, retries, repeatable }: RetryState,
): number | undefined {
  const { retryAfter } = error;
  if (isCertificateError(error)) return undefined;
  if (tries > retries || !(canBeRepeated(error) || (isOutcomeUnknown(error) && repeatable)))
    return undefined;
  const delayMs = jitter(Math.min(firstDelayMs * 2 ** (tries - 1), maxDelayMs));
  if (retryAfter === undefined) return delayMs;
  const retryAfterMs = retryAfter * 1_000;
  return retryAfterMs > maxRetryAfterMs ? undefined : retryAfterMs + delayMs / 2;
}

/**
 * Returns whether the server says that a repeat is safe. It says so with 429, with 408, or with 503
 * and `Retry-After`: it did not execute the call, or a repeat of the call gets the same run.
 */
function canBeRepeated(error: BeckonError): boolean {
  const { status, retryAfter } = error;
  return status === 429 || isIncomplete(error) || (status === 503 && retryAfter !== undefined);
}

/**
 * Returns whether the server did not get the whole request in time, or stopped before that, so it
 * did not execute the call. A 408 of a proxy does not show that.
 */
export function isIncomplete({ status, code }: BeckonError): boolean {
  return status === 408 && code !== "unexpected_answer";
}

/**
 * Returns true if the error does not show whether the server executed the call. Proxies also have
 * statuses of their own, such as 520 to 530, for a response of the server that was lost.
 */
function isOutcomeUnknown(error: BeckonError): boolean {
  const { status = 0, code } = error;
  if (canBeRepeated(error)) return false;
  if (code === "no_answer" || (code === "unexpected_answer" && status >= 500)) return true;
  return status === 502 || status === 503 || status === 504;
}

/**
 * Returns true if Beckon may have executed the call although it responded with this error. Other
 * than `isOutcomeUnknown`, it is not about repeats: with 503 and `Retry-After`, or after an
 * internal error, the server may not know either whether the run was started.
 */
export function mayBeExecuted(error: BeckonError): boolean {
  return isOutcomeUnknown(error) || error.status === 503 || error.code === "internal_error";
}

/** Codes of Node.js for a server that cannot be reached: nothing was sent. */
const unsentCodes = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/**
 * Codes of Node.js for a certificate that it does not trust. It checks the certificate before it
 * sends the request.
 */
const certificateCodes = /^(CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|SELF_SIGNED_|UNABLE_TO_)/;

/** Returns the code of Node.js for an attempt without a response; empty if there is none. */
function connectionCode({ code, cause }: BeckonError): string {
  const { cause: reason } = (cause ?? {}) as { readonly cause?: { readonly code?: string } };
  return code === "no_answer" ? (reason?.code ?? "") : "";
}

/**
 * Returns true if the error shows that the attempt sent nothing. Browsers do not say so, so there
 * the outcome counts as unknown.
 */
export function isUnsent(error: BeckonError): boolean {
  return unsentCodes.has(connectionCode(error)) || isCertificateError(error);
}

/**
 * Returns whether Node.js does not trust the server's certificate. Other runtimes do not say so,
 * so there the result is always false.
 */
export function isCertificateError(error: BeckonError): boolean {
  return certificateCodes.test(connectionCode(error));
}

/**
 * Returns true if the error shows that no earlier attempt of the call was executed: otherwise, the
 * server would have sent the response of that attempt again. It checks the credential and its load
 * before, and sends a 408 without reading the Idempotency-Key. A 413 can mean that this response is
 * too large to be sent. So 401, 403, 408, 413 and 429 do not show that.
 */
export function isDecisive({ status = 0, code }: BeckonError): boolean {
  return (
    status >= 400 &&
    status < 500 &&
    ![401, 403, 408, 413, 429].includes(status) &&
    code !== "unexpected_answer"
  );
}

/**
 * Returns a random time of 50 to 100 % of `ms`, so that clients that were disconnected together do
 * not reconnect together.
 */
export function jitter(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}

/** Resolves after `ms`. @throws the signal's reason if the signal aborts */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return void reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
