import type { ErrorAnswer, ErrorCode } from "@beckon/contract";
import { ApiError, type AppliedLimit, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 409
  | 412
  | 413
  | 415
  | 421
  | 422
  | 429
  | 500
  | 503;

/** A new code does not compile until it has a status. */
export const statuses: { readonly [Code in ErrorCode]: ErrorStatus } = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  misdirected: 421,
  agent_paused: 409,
  trigger_disabled: 409,
  conflict: 409,
  stale: 412,
  too_large: 413,
  unsupported_type: 415,
  idempotency_mismatch: 422,
  agent_busy: 429,
  too_many_requests: 429,
  secret_unreadable: 409,
  internal_error: 500,
  unavailable: 503,
};

/** The answer to a refusal. Anything else that was thrown is a fault of ours: logged, and told as such without its text. */
export function errorResponse(thrown: unknown, log: Log, route: string): Response {
  const refusal = thrown instanceof ApiError ? thrown : fault(thrown, log, route);
  const body: ErrorAnswer = { ok: false, error: refusal.message, code: refusal.code };
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (refusal.retryAfter !== undefined) headers["retry-after"] = String(refusal.retryAfter);
  if (refusal.limit !== undefined) Object.assign(headers, limitHeaders(refusal.limit));
  return new Response(JSON.stringify(body), { status: statuses[refusal.code], headers });
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
