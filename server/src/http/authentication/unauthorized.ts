import type { IncomingMessage } from "node:http";
import { ApiError } from "../../base/errors.ts";
import { unauthorizedMessage } from "../../credentials/index.ts";
import { addressOf, headerOf, type PresentedKind, reportOf } from "../request/index.ts";
import type { Services } from "../services.ts";
import { kindOfCredential } from "./kind-of-credential.ts";

/**
 * Counts a failed authentication and returns its error, which is `too_many_requests` above the
 * limit. Sessions are not counted and always get `unauthorized`: cookies are signed, so they cannot
 * be guessed, and the dashboard must learn that its session has ended.
 *
 * The error of an invoke with an agent's token, recognized by its prefix, also says that it can be
 * the token of another agent. That reveals nothing, because it does not depend on what is stored.
 *
 * If the request has no `x-api-key` but `Authorization: Bearer`, which other APIs use, the error
 * says which header Beckon reads.
 *
 * @param kind kind of the credential that is not valid, for the log; `none` if there is none.
 *   Default: the one that the request presents
 * @param isInvoke whether the path names the only agent whose token is accepted. Default: false
 */
export function unauthorized(
  services: Services,
  incoming: IncomingMessage,
  kind: PresentedKind = presentedKind(services, incoming),
  isInvoke = false,
): ApiError {
  const hint = isBearerOnly(incoming)
    ? " Beckon does not read Authorization: Bearer; send the same credential as x-api-key."
    : isInvoke && kind === "token"
      ? " Or it is the token of another agent: check the agent's id in the URL."
      : "";
  const message = unauthorizedMessage + hint;
  if (kind !== "none") reportOf(incoming).rejected = kind;
  if (kind === "session") return new ApiError("unauthorized", message);
  const address = addressOf(incoming, services.trustedProxies);
  return services.failedAuthentications.countFailure(address, message);
}

/**
 * Returns the kind of the credential in the headers of a request. Only `x-api-key` and the
 * session's cookie count, because Beckon accepts no other header or cookie as a credential.
 */
export function presentedKind(
  { auth }: Pick<Services, "auth">,
  incoming: IncomingMessage,
): PresentedKind {
  const key = headerOf(incoming, "x-api-key");
  if (key !== undefined) return kindOfCredential(key);
  return auth.hasSessionCookie(headerOf(incoming, "cookie")) ? "session" : "none";
}

function isBearerOnly(incoming: IncomingMessage): boolean {
  return (
    headerOf(incoming, "x-api-key") === undefined &&
    /^bearer( |$)/i.test(headerOf(incoming, "authorization") ?? "")
  );
}
