import type { ErrorCode, ErrorResponse } from "@beckon/contract";
import { ApiError, type AppliedLimit, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

/** HTTP status and meaning of each error code; a new code does not compile until it has both. */
export const apiErrors: {
  readonly [Code in ErrorCode]: { readonly status: number; readonly meaning: string };
} = {
  bad_request: {
    status: 400,
    meaning: "the body or the query cannot be read, or a member is wrong or unknown: it is named",
  },
  unauthorized: {
    status: 401,
    meaning:
      "the credential is absent, malformed, unknown, rotated, revoked or expired: one answer for all",
  },
  forbidden: { status: 403, meaning: "the credential stands and may not do this" },
  not_found: { status: 404, meaning: "there is no such resource that this credential may see" },
  method_not_allowed: { status: 405, meaning: "the path does not answer this method" },
  misdirected: {
    status: 421,
    meaning:
      "the Host header names another site than this one: browsers are answered at PUBLIC_URL, localhost and IP addresses",
  },
  agent_paused: { status: 409, meaning: "the agent is paused" },
  trigger_disabled: { status: 409, meaning: "the trigger is disabled" },
  conflict: { status: 409, meaning: "the state does not allow it: the answer says what to do" },
  stale: { status: 412, meaning: "If-Match names an older version" },
  too_large: { status: 413, meaning: "the body is over 1 MiB" },
  unsupported_type: { status: 415, meaning: "the body's type cannot be read" },
  idempotency_mismatch: { status: 422, meaning: "the Idempotency-Key was used with another body" },
  agent_busy: { status: 429, meaning: "the agent's queue is full: see Retry-After" },
  too_many_requests: {
    status: 429,
    meaning:
      "too many failed authentications from this address, or streams open with this credential: see Retry-After",
  },
  secret_unreadable: {
    status: 409,
    meaning: "the master key that sealed the secret is lost: rotate to have a new one",
  },
  internal_error: { status: 500, meaning: "Beckon failed by a fault of its own" },
  unavailable: {
    status: 503,
    meaning: "Beckon or its database cannot take it now, and nothing was started: see Retry-After",
  },
};

/** The answer to a refusal. Anything else that was thrown is a fault of ours: logged, and told as such without its text. */
export function errorResponse(thrown: unknown, log: Log, route: string): Response {
  const refusal = thrown instanceof ApiError ? thrown : fault(thrown, log, route);
  const body: ErrorResponse = { ok: false, error: refusal.message, code: refusal.code };
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (refusal.retryAfter !== undefined) headers["retry-after"] = String(refusal.retryAfter);
  if (refusal.limit !== undefined) Object.assign(headers, limitHeaders(refusal.limit));
  return new Response(JSON.stringify(body), { status: apiErrors[refusal.code].status, headers });
}

/** As the IETF's draft on RateLimit header fields writes them: structured fields, a policy's name and its parameters. */
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

function fault(thrown: unknown, log: Log, route: string): ApiError {
  log.error(
    { route, reason: messageOf(thrown), stack: thrown instanceof Error ? thrown.stack : undefined },
    "a request failed by a fault of ours",
  );
  return new ApiError(
    "internal_error",
    "Beckon failed at this request by a fault of its own. It is in the log; trying again may help.",
  );
}
