import type { IncomingMessage } from "node:http";
import { permit, principalOf } from "../../base/context.ts";
import { authenticate } from "../authentication/index.ts";
import { arrivesWithHeaders, headerOf, readDeadline } from "../request/index.ts";
import type { Services } from "../services.ts";
import type { StartHead } from "./start-from-request.ts";

/**
 * Returns the member who invokes an agent with a session; `caller` is undefined if the request has
 * no session cookie. Queries session and role for each request. If the body arrives late,
 * `checkAgain` queries them again. So a request starts no run if the session is revoked before its
 * body is complete.
 * @throws ApiError the errors of `authenticate`; `forbidden` if the role cannot invoke agents.
 */
export async function authenticateMember(
  services: Services,
  incoming: IncomingMessage,
): Promise<Pick<StartHead, "caller" | "credentialKind" | "session" | "checkAgain">> {
  const credentialKind = "session";
  if (!services.auth.hasSessionCookie(headerOf(incoming, "cookie")))
    return { caller: undefined, credentialKind };
  const arrives = arrivesWithHeaders(incoming);
  const find = async (workspaceId: string | undefined) => {
    const found = await readDeadline().limit(authenticate(services, incoming, { id: workspaceId }));
    permit(found, "agents:invoke");
    return found;
  };
  const {
    actor,
    workspaceId,
    sessionId,
    cookies = [],
  } = await find(headerOf(incoming, "beckon-workspace"));
  if (sessionId === undefined) throw new Error("a member has a session");
  return {
    caller: { kind: "authenticated", principal: principalOf(actor), workspaceId },
    credentialKind,
    session: { id: sessionId, cookies },
    ...((await arrives) ? {} : { checkAgain: async () => void (await find(workspaceId)) }),
  };
}

/** Returns the header that renews the session's cookie, or no header if renewal is not due. */
export function cookieOf({ session }: Pick<StartHead, "session">): Record<string, string> {
  const cookie = session?.cookies[0];
  return cookie === undefined ? {} : { "set-cookie": cookie };
}
