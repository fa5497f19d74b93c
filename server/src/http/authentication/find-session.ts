import type { IncomingMessage } from "node:http";
import { headerOf } from "../request/index.ts";
import type { Services } from "../services.ts";
import { requireOwnSite } from "./own-site.ts";
import { unauthorized } from "./unauthorized.ts";

/** A valid session, found by its cookie. */
export interface SessionFound {
  readonly id: string;
  readonly userId: string;
  /** `Set-Cookie` values for the response if the session's expiry was extended, else empty. */
  readonly cookies: readonly string[];
}

/**
 * Returns the session of the request, or undefined if the request has no session cookie. Queries
 * the database each time, so that every process rejects a session as soon as it is revoked.
 * @throws ApiError `unauthorized` if the session is not valid; the errors of `requireOwnSite`.
 */
export async function findSession(
  services: Services,
  incoming: IncomingMessage,
): Promise<SessionFound | undefined> {
  const cookies = headerOf(incoming, "cookie");
  if (!services.auth.hasSessionCookie(cookies)) return undefined;
  requireOwnSite(services, incoming, { strict: true });
  const found = await services.auth.find(cookies);
  if (found !== undefined) return found;
  throw unauthorized(services, incoming, "session");
}
