import type { IncomingMessage } from "node:http";
import { permit, principalOf } from "../../base/context.ts";
import { authenticate } from "../authentication/index.ts";
import { headerOf, readDeadline } from "../request/index.ts";
import type { Services } from "../services.ts";
import type { StartHead } from "./start-from-request.ts";

/**
 * The member who invokes an agent by their session, or nothing without one. The session and the role are asked of the database here, just before
 * the gate writes: like a key's, a revocation holds from its answer on.
 * @throws ApiError as `authenticate`; `forbidden` for a role that does not invoke.
 */
export async function authenticateMember(
  services: Services,
  incoming: IncomingMessage,
): Promise<Pick<StartHead, "caller" | "session"> | undefined> {
  if (!services.auth.hasSessionCookie(headerOf(incoming, "cookie"))) return undefined;
  const {
    actor,
    workspaceId,
    sessionId,
    cookies = [],
  } = await readDeadline()(
    authenticate(services, incoming, { id: headerOf(incoming, "beckon-workspace") }),
  );
  if (sessionId === undefined) return undefined;
  permit({ actor }, "agents:invoke");
  return {
    caller: { kind: "member", principal: principalOf(actor), workspaceId },
    session: { id: sessionId, cookies },
  };
}

/** The header that renews the session's cookie, if it is due. */
export function cookieOf({ session }: Pick<StartHead, "session">): Record<string, string> {
  const cookie = session?.cookies[0];
  return cookie === undefined ? {} : { "set-cookie": cookie };
}
