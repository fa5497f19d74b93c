import type { IncomingMessage } from "node:http";
import { roleScopes } from "@beckon/contract";
import type { Actor } from "../../base/context.ts";
import { unavailableIfLost } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { unauthorizedMessage } from "../../credentials/index.ts";
import { resolveKey } from "../../keys/index.ts";
import { findMemberships } from "../../members/index.ts";
import { resolveToken } from "../../tokens/index.ts";
import { addressOf, headerOf } from "../request/index.ts";
import type { Services } from "../services.ts";
import { findSession, type SessionFound } from "./find-session.ts";

export interface Authenticated {
  readonly actor: Actor;
  readonly workspaceId: string;
  /** Of a member who is signed in. */
  readonly sessionId?: string;
  /** To set in the answer to a member who is signed in. */
  readonly cookies?: readonly string[];
}

/** In which workspace a member wants to act: a key says so by itself. */
export interface WantedWorkspace {
  /** Undefined: not said, which will do for a member of one. */
  readonly id: string | undefined;
  /** It is about all of the member's: any will do. */
  readonly any?: boolean | undefined;
}

/**
 * Who sent this request, by its `x-api-key` or else by its session, asked of the database each time: a revocation holds from its
 * answer on, and so does a member's removal or other role.
 * @throws ApiError `unauthorized`, the same for all credentials that do not stand; `not_found` for a workspace that is not the member's; as
 *   `requireOwnSite` with a session.
 */
export async function authenticate(
  services: Services,
  incoming: IncomingMessage,
  wanted: WantedWorkspace,
): Promise<Authenticated> {
  const credential = headerOf(incoming, "x-api-key");
  if (credential !== undefined) {
    const found = await resolve(services, credential);
    if (found !== undefined) return found;
  } else {
    const session = await findSession(services, incoming);
    if (session !== undefined) return asMember(services, session, wanted);
  }
  throw services.failedAuthentications.answer(
    addressOf(incoming, services.trustProxy),
    unauthorizedMessage,
  );
}

/** The workspace that a request names: in its header or, where a link may lead, in its query. */
export function workspaceOf(
  incoming: IncomingMessage,
  query: string | undefined,
): string | undefined {
  return (
    headerOf(incoming, "beckon-workspace") ??
    (incoming.method === "GET" || incoming.method === "HEAD" ? query : undefined)
  );
}

async function asMember(
  services: Services,
  session: SessionFound,
  wanted: WantedWorkspace,
): Promise<Authenticated> {
  const memberships = await findMemberships(services.database, session.userId).catch((thrown) => {
    throw unavailableIfLost(thrown);
  });
  if (memberships.length === 0)
    throw new ApiError(
      "forbidden",
      "You are a member of no workspace. Ask an owner or admin of one to invite you.",
    );
  const [first, second] =
    wanted.id === undefined
      ? memberships
      : memberships.filter(({ workspaceId }) => workspaceId === wanted.id);
  if (first === undefined)
    throw new ApiError(
      "not_found",
      "There is no workspace with this id of which you are a member. GET /api/public/me lists yours.",
    );
  if (second !== undefined && !wanted.any) {
    throw new ApiError(
      "bad_request",
      "You are a member of several workspaces. Name one in the header beckon-workspace or, on GET, as ?workspace=.",
    );
  }
  const { workspaceId, role } = first;
  const actor: Actor = { kind: "user", id: session.userId, role, scopes: roleScopes[role] };
  return { actor, workspaceId, sessionId: session.id, cookies: session.cookies };
}

async function resolve(services: Services, credential: string): Promise<Authenticated | undefined> {
  try {
    if (credential.startsWith("bka_")) {
      const token = await resolveToken(services.database, credential);
      return (
        token && {
          actor: { kind: "token", agentId: token.agentId },
          workspaceId: token.workspaceId,
        }
      );
    }
    const key = await resolveKey(services.database, credential);
    if (key === undefined) return undefined;
    services.keyUse.note({ workspaceId: key.workspaceId, credential });
    return {
      actor: { kind: "key", id: key.id, scopes: key.scopes, agentIds: key.agentIds },
      workspaceId: key.workspaceId,
    };
  } catch (thrown) {
    throw unavailableIfLost(thrown);
  }
}
