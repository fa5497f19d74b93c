import type { ErrorCode, ErrorResponse, RunErrorCode } from "@beckon/contract";
import { ApiError, type AppliedLimit, messageOf, stackOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

/**
 * HTTP status and meaning of each error code. The type requires an entry for every error code.
 */
export const apiErrors: {
  readonly [Code in ErrorCode]: { readonly status: number; readonly meaning: string };
} = {
  bad_request: {
    status: 400,
    meaning:
      "the body or the query cannot be read, or a field or query parameter is wrong or unknown: the text names it",
  },
  unauthorized: {
    status: 401,
    meaning:
      "the credential is missing, malformed, unknown, rotated, revoked or expired, or the token of another agent: the response does not say which",
  },
  forbidden: {
    status: 403,
    meaning:
      "the credential is valid but lacks the scope or role, a session's request comes from another site, or a trigger does not allow the sender's address or origin",
  },
  not_found: {
    status: 404,
    meaning: "the resource does not exist or this credential cannot see it",
  },
  method_not_allowed: { status: 405, meaning: "the path does not support this method" },
  misdirected: {
    status: 421,
    meaning:
      "the Host header names another site: browsers reach Beckon at PUBLIC_URL, localhost and IP addresses; with a PUBLIC_URL of https, over http at localhost only",
  },
  agent_paused: { status: 409, meaning: "the agent is paused" },
  trigger_disabled: { status: 409, meaning: "the trigger is disabled" },
  conflict: {
    status: 409,
    meaning: "the current state does not allow it: the text says what to do",
  },
  stale: { status: 412, meaning: "If-Match does not name the current version" },
  too_large: {
    status: 413,
    meaning:
      "the body is larger than the limit that the text names (1 MiB; routes about accounts: 16 KiB; triggers with an own limit: up to 25 MiB), or the body or the response needs more memory than the server has for it: if the request was executed, the text says so; with status 431, the headers are larger than 16 KiB",
  },
  unsupported_type: { status: 415, meaning: "the body's media type is not supported" },
  idempotency_mismatch: {
    status: 422,
    meaning:
      "the Idempotency-Key was used with a different body or, to start a run, with a different `beckon-external-id`, `beckon-tags` or `beckon-callback`",
  },
  agent_busy: { status: 429, meaning: "the agent's queue is full: see Retry-After" },
  too_many_requests: {
    status: 429,
    meaning:
      "too many failed authentications from this address, open streams with this credential or of its workspace, requests to this trigger, or runs that it holds: see Retry-After",
  },
  secret_unreadable: {
    status: 409,
    meaning: "the master key that encrypted the secret is lost: rotate to get a new one",
  },
  internal_error: {
    status: 500,
    meaning: "Beckon failed because of an internal error: the text has the request id",
  },
  unavailable: {
    status: 503,
    meaning:
      "Beckon or its database is overloaded or away: see Retry-After; no run was started, unless the text says otherwise; without Retry-After, a change may have been saved; the text has the request id",
  },
};

/** The request to which an error belongs, for the log and for the request id in the response. */
export interface FailedRequest {
  readonly log: Log;
  /**
   * The path pattern of the route; `none` if no route matches or the URL cannot be parsed. It is
   * logged instead of the URL, which can contain a secret.
   */
  readonly route: string;
  readonly requestId: string;
}

/**
 * Returns the response for a thrown error. Anything but an `ApiError` is an internal error: it is
 * logged, and the response does not repeat its message.
 */
export function errorResponse(thrown: unknown, request: FailedRequest): Response {
  const error = reportedError(thrown, request);
  const body = errorBody({
    message: messageFor(error, request.requestId),
    code: error.code,
    runId: error.runId,
    limit: error.limitReached,
  });
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (error.retryAfter !== undefined) headers["retry-after"] = String(error.retryAfter);
  if (error.challenge !== undefined) headers["www-authenticate"] = error.challenge;
  if (error.rateLimit !== undefined) Object.assign(headers, limitHeaders(error.rateLimit));
  return new Response(JSON.stringify(body), { status: statusOfCode(error.code), headers });
}

/** Returns the body of the response for an error. */
export function errorBody({
  message,
  code,
  runId,
  limit,
}: {
  readonly message: string;
  readonly code: ErrorResponse["code"];
  readonly runId?: string | undefined;
  readonly limit?: ErrorResponse["limit"] | undefined;
}): ErrorResponse {
  return {
    ok: false,
    error: message,
    code,
    ...(runId === undefined ? {} : { run_id: runId }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/**
 * Returns the error that is reported to the client, and writes to the log what the operator needs
 * to know: nothing for an error of the client.
 */
export function reportedError(thrown: unknown, request: FailedRequest): ApiError {
  const error = thrown instanceof ApiError ? thrown : internalError(thrown, request);
  if (error.code === "unavailable") logUnavailable(error, request);
  return error;
}

/** Returns the HTTP status of an error code. A failed run has the status 500. */
export function statusOfCode(code: ErrorCode | RunErrorCode): number {
  return code in apiErrors ? apiErrors[code as ErrorCode].status : 500;
}

/**
 * Returns the text for the client. For `unavailable` and `internal_error` it contains the request
 * id, by which the operator finds the error in the log.
 */
export function messageFor(error: ApiError, requestId: string): string {
  return error.code === "unavailable" || error.code === "internal_error"
    ? `${error.message} Request id: ${requestId}.`
    : error.message;
}

/**
 * Returns the headers of the IETF draft "RateLimit header fields for HTTP" as structured fields. In
 * these, `q` is the quota, `qu` its unit, `w` the seconds of the window, `r` the remaining quota
 * and `t` the seconds until it is reset.
 */
function limitHeaders({
  policy,
  quota,
  unit,
  windowSeconds,
  remaining,
  resetSeconds,
}: AppliedLimit): Record<string, string> {
  const qu = unit === undefined ? "" : `;qu="${unit}"`;
  const w = windowSeconds === undefined ? "" : `;w=${windowSeconds}`;
  return {
    "ratelimit-policy": `"${policy}";q=${quota}${qu}${w}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  };
}

function internalError(thrown: unknown, { log, route, requestId }: FailedRequest): ApiError {
  log.write("a request failed because of an internal error", {
    request_id: requestId,
    route,
    reason: messageOf(thrown),
    stack: stackOf(thrown),
  });
  return new ApiError(
    "internal_error",
    "Beckon failed because of an internal error. Try again; if it fails again, give the request id to the operator, who finds it in the log.",
  );
}

/** Logs the reason of a 503, once per outage. Each 503 itself is in the log line of its request. */
function logUnavailable(error: ApiError, { log, route, requestId }: FailedRequest): void {
  const { cause } = error;
  if (cause !== undefined) log.outages.database.failed(cause);
  else
    log.outages.overload.failed("", {
      request_id: requestId,
      route,
      reason: error.message,
    });
}
