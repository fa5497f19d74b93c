import { BeckonError } from "@beckon/client";

/** Returns whether the server rejected the session, the link or the password of a call (401). */
export function isUnauthorized(thrown: unknown): boolean {
  return thrown instanceof BeckonError && thrown.status === 401;
}

/** Returns whether the resource does not exist, or is hidden from the caller. */
export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof BeckonError && thrown.status === 404;
}

/**
 * Returns the error of a screen with several queries: one that says that a resource does not exist,
 * or else any other; null if there is none.
 */
export function errorOf(errors: readonly (Error | null)[]): Error | null {
  return errors.find(isNotFound) ?? errors.find((each) => each !== null) ?? null;
}

/** Returns whether someone else has changed the resource since it was read (412). */
export function isStale(thrown: unknown): boolean {
  return thrown instanceof BeckonError && thrown.status === 412;
}

/**
 * Returns whether the response of the call was lost. It is then unknown whether the server has
 * executed the call.
 */
export function isOutcomeUnknown(thrown: unknown): boolean {
  if (!(thrown instanceof BeckonError)) return false;
  const { code, status = 0, retryAfter } = thrown;
  if (code === "no_answer" || code === "timed_out") return true;
  // Proxies have statuses of their own, such as 520 to 530, for a response that was lost.
  if (code === "unexpected_answer" && status >= 500 && status !== 503) return true;
  return status === 502 || status === 504 || (status === 503 && retryAfter === undefined);
}

/**
 * Returns whether the error of a change says that the cached data can be outdated: someone else has
 * changed or deleted the resource, or the response was lost and the change may have been made.
 */
export function isOutdated(thrown: unknown): boolean {
  return (
    isOutcomeUnknown(thrown) ||
    (thrown instanceof BeckonError && ["conflict", "stale", "not_found"].includes(thrown.code))
  );
}

/**
 * Returns the error of the first call with a new session, for the form that signed in. A 401 means
 * that the browser did not keep the session's cookie; the form would call the password wrong.
 */
export function firstCallError(thrown: unknown): unknown {
  if (!isUnauthorized(thrown)) return thrown;
  const message =
    "The password is right, but the browser did not keep the session's cookie. Allow cookies for this page, and open it at its https address if it has one.";
  return new BeckonError({ code: "conflict", message, cause: thrown });
}
