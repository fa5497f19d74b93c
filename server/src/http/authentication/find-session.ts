import type { IncomingMessage } from "node:http";
import { unauthorizedMessage } from "../../credentials/index.ts";
import { addressOf, headerOf } from "../request/index.ts";
import type { Services } from "../services.ts";
import { requireOwnSite } from "./own-site.ts";

/** A valid session, found by its cookie. */
export interface SessionFound {
  readonly id: string;
  readonly userId: string;
  /** To set in the answer: the session's end has moved. */
  readonly cookies: readonly string[];
}

/**
 * The session of this request, asked of the database each time: one that was revoked is refused by every process. Undefined without a cookie
 * of ours.
 * @throws ApiError `unauthorized` for one that does not stand; as `requireOwnSite`.
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
  throw services.failedAuthentications.answer(
    addressOf(incoming, services.trustProxy),
    unauthorizedMessage,
  );
}
