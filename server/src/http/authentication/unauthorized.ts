import type { IncomingMessage } from "node:http";
import type { ApiError } from "../../base/errors.ts";
import { unauthorizedMessage } from "../../credentials/index.ts";
import { addressOf, exchangeOf, headerOf } from "../request/index.ts";
import type { Services } from "../services.ts";

/**
 * Counts a failed authentication and returns its error. If the request has no `x-api-key` but
 * `Authorization: Bearer`, which other APIs use, the error says which header Beckon reads.
 */
export function unauthorized(services: Services, incoming: IncomingMessage): ApiError {
  const hint = isBearerOnly(incoming)
    ? " Beckon does not read Authorization: Bearer; send the same credential as x-api-key."
    : "";
  noteRejection(services, incoming);
  return services.failedAuthentications.countFailure(
    addressOf(incoming, services.trustedProxies),
    unauthorizedMessage + hint,
  );
}

/**
 * Marks a request that has a credential, so that the log reports a rejected credential. Only
 * `x-api-key` and the session's cookie count, because Beckon accepts no other header or cookie as a
 * credential.
 */
function noteRejection({ auth }: Services, incoming: IncomingMessage): void {
  const hasCredential =
    headerOf(incoming, "x-api-key") !== undefined ||
    auth.hasSessionCookie(headerOf(incoming, "cookie"));
  if (hasCredential) exchangeOf(incoming).isRejected = true;
}

function isBearerOnly(incoming: IncomingMessage): boolean {
  return (
    headerOf(incoming, "x-api-key") === undefined &&
    /^bearer( |$)/i.test(headerOf(incoming, "authorization") ?? "")
  );
}
