import type { IncomingMessage } from "node:http";
import { permit, principalOf } from "../base/context.ts";
import { hashCredential } from "../base/secrets/index.ts";
import { authenticate } from "./authenticate.ts";
import { readDeadline } from "./read-deadline.ts";
import { headerOf } from "./request.ts";
import type { Services } from "./services.ts";
import type { StartDoor } from "./start-door.ts";

/**
 * The member who invokes an agent by their session, or nothing without one. The session and the role are asked of the database here, just before
 * the gate writes: like a key's, a revocation holds from its answer on.
 * @throws Refusal as `authenticate`; `forbidden` for a role that does not invoke.
 */
export async function memberAt(
  services: Services,
  incoming: IncomingMessage,
): Promise<Pick<StartDoor, "credentialHash" | "member" | "session"> | undefined> {
  if (!services.auth.mayBeSession(headerOf(incoming, "cookie"))) return undefined;
  const {
    actor,
    workspaceId,
    sessionId,
    cookies = [],
  } = await readDeadline()(authenticate(services, incoming, { id: headerOf(incoming, "beckon-workspace") }));
  if (sessionId === undefined) return undefined;
  permit({ actor }, "agents:invoke");
  const principal = principalOf(actor);
  // With a space in it, which no credential has.
  const credentialHash = hashCredential(`${principal} ${workspaceId}`);
  return { credentialHash, member: { principal, workspaceId }, session: { id: sessionId, cookies } };
}

/** The header that renews the session's cookie, if it is due. */
export function cookieOf({ session }: Pick<StartDoor, "session">): Record<string, string> {
  const cookie = session?.cookies[0];
  return cookie === undefined ? {} : { "set-cookie": cookie };
}
