import type { IncomingMessage } from "node:http";
import { roleScopes } from "@beckon/contract";
import type { Actor } from "../../base/context.ts";
import { unavailableIfLost } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { hashCredential } from "../../base/secrets/index.ts";
import { resolveKey } from "../../keys/index.ts";
import { findMemberships } from "../../members/index.ts";
import { resolveToken } from "../../tokens/index.ts";
import { headerOf } from "../request/index.ts";
import type { Services } from "../services.ts";
import { findSession, type SessionFound } from "./find-session.ts";
import { kindOfCredential } from "./kind-of-credential.ts";
import { unauthorized } from "./unauthorized.ts";

/** The caller of a request whose credential is valid, and the workspace that it concerns. */
export interface Authenticated {
  readonly actor: Actor;
  readonly workspaceId: string;
  /** Id of the caller's session; absent for a key or token. */
  readonly sessionId?: string;
  /**
   * `Set-Cookie` values that renew the session's cookie; empty if it need not be renewed yet.
   * Absent for a key or token.
   */
  readonly cookies?: readonly string[];
}

/**
 * The workspace that a request with a session names. It is not used for a key or token, each of
 * which belongs to one workspace.
 */
export interface WantedWorkspace {
  /**
   * Undefined if the request names no workspace. A member of only one workspace need not name it.
   */
  readonly id: string | undefined;
  /**
   * Whether the route concerns all workspaces of the member. If so, the request need not name one.
   */
  readonly any?: boolean | undefined;
}

/**
 * Returns the caller, identified by `x-api-key` or, without this header, by the session cookie.
 * Queries the database each time, so that a revocation, the removal of a member or a change of role
 * applies to every request that is sent after the server has confirmed it.
 * @throws ApiError `unauthorized`, the same for all credentials that are not valid; `forbidden` if
 *   a signed-in caller is a member of no workspace; `not_found` if the caller is not a member of
 *   the named workspace; `bad_request` if the request must name a workspace and does not;
 *   `unavailable` if the database cannot be reached; with a session, the errors of
 *   `requireOwnSite`.
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
  throw unauthorized(services, incoming);
}

/**
 * Returns the id of the workspace that a request names in the header `beckon-workspace`, or else in
 * the query of a GET or HEAD, so that links can name one. Undefined if it names none.
 * @param query value of the parameter `workspace`; undefined if the query does not have it
 */
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
      "You are not a member of any workspace. Ask an owner or admin of one to invite you.",
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
    if (kindOfCredential(credential) === "token") {
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
      actor: {
        kind: "key",
        id: key.id,
        scopes: key.scopes,
        agentIds: key.agentIds,
        secretHash: hashCredential(credential),
      },
      workspaceId: key.workspaceId,
    };
  } catch (thrown) {
    throw unavailableIfLost(thrown);
  }
}
