import { BeckonError } from "@beckon/client";

/** Returns a copy of an error that Beckon or the client returned, with another message. */
export function withMessage(error: BeckonError, message: string): BeckonError {
  const { code, status, runId, retryAfter, idempotencyKey, limit, requestId, cause } = error;
  const kept = { code, status, runId, retryAfter, idempotencyKey, limit, requestId };
  return new BeckonError({ ...kept, message, cause });
}
