import type { AccountContext, SignedIn } from "../../accounts/index.ts";
import { ApiError } from "../../base/errors.ts";
import type { UnparsedBody } from "../../base/parse.ts";
import { findSession, requireOwnSite, type SessionFound } from "../authentication/index.ts";
import { basePathOf } from "../base-path.ts";
import {
  addressOf,
  arrivesWithHeaders,
  headerOf,
  pathParameter,
  type RequestContext,
  readDeadline,
  readSmallBody,
  reportOf,
} from "../request/index.ts";
import type { Services } from "../services.ts";
import { managedBody } from "./managed-body.ts";
import { type Handled, type JsonResult, renderJson, resultOf } from "./render.ts";
import { type RouteDoc, rejectRepeatedQuery, rejectUnknownQuery } from "./route-doc.ts";

/** A request as handlers get it: decoded from HTTP, but not yet validated by a schema. */
export interface AccountRequest<Ctx extends AccountContext> {
  readonly ctx: Ctx;
  readonly param: (name: string) => string;
  readonly query: Record<string, string>;
  readonly body: UnparsedBody;
}

interface Described {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path below `/api/public`. */
  readonly path: string;
  readonly doc: RouteDoc;
}

/** A route that needs no credential, or has the credential in its body, for example a password. */
export interface OpenRoute extends Described {
  readonly who: "anybody";
  /** A session can authenticate the request instead of credentials in its body. */
  readonly acceptsSession?: true;
  /** `signedIn` returns the session of the request, if it has one. */
  readonly handle: (
    request: AccountRequest<AccountContext> & { signedIn: () => Promise<SessionFound | undefined> },
  ) => Handled<JsonResult>;
}

/** A route about the person who is signed in. It needs a session and rejects keys. */
export interface PersonalRoute extends Described {
  readonly who: "signed in";
  readonly handle: (request: AccountRequest<SignedIn>) => Handled<JsonResult>;
}

/**
 * A route about accounts. Accounts belong to no workspace, so these routes have no scope, role or
 * Idempotency-Key.
 */
export type AccountRoute = OpenRoute | PersonalRoute;

/** Handles a request to a route about accounts. */
export async function handleAccount(
  services: Services,
  route: AccountRoute,
  c: RequestContext,
): Promise<Response> {
  const { incoming } = c.env;
  requireOwnSite(services, incoming, { strict: false });
  const address = addressOf(incoming, services.trustedProxies);
  const ctx: AccountContext = {
    database: services.database,
    auth: services.auth,
    address,
    userAgent: headerOf(incoming, "user-agent")?.slice(0, 500),
    failedAttempts: {
      permit: () => services.failedPasswords.permit(address),
      count: (message) => {
        reportOf(incoming).rejected = "password or link";
        return services.failedPasswords.countFailure(address, message);
      },
      countSucceeding: () => {
        services.failedPasswords.countFailure(address, "");
      },
    },
    failedSignIns: services.failedSignIns,
  };
  const request = async () => {
    rejectRepeatedQuery(c.req.queries());
    // Clients can name a workspace in every GET with a session. It has no effect here, because
    // accounts belong to no workspace.
    const { workspace: _, ...others } = c.req.query();
    const isPersonalGet = route.who === "signed in" && route.method === "GET";
    const query = isPersonalGet ? others : c.req.query();
    rejectUnknownQuery(route.doc, query);
    const raw = route.method === "GET" ? undefined : await readSmallBody(incoming);
    return {
      param: (name: string) => pathParameter(c, name),
      query,
      body: managedBody(raw, incoming, route.doc),
    };
  };
  const rendering = {
    basePath: basePathOf(services),
    // The responses are small, and their memory belongs to no workspace.
    count: () => {},
  };
  if (route.who === "anybody") {
    const signedIn = () => findSession(services, incoming);
    const handled = route.handle({ ctx, ...(await request()), signedIn });
    return renderJson(route.doc, await resultOf(handled), rendering);
  }
  const arrives = arrivesWithHeaders(incoming);
  const deadline = readDeadline();
  const session = await deadline.limit(findSession(services, incoming));
  if (session === undefined) {
    throw new ApiError(
      "unauthorized",
      "This route needs the session of a person: sign in with POST /api/public/sign-in. A key, in x-api-key, has no account.",
    );
  }
  const parts = await request();
  // The session can have been revoked while the rest of the body arrived, so it is checked again.
  if (route.method !== "GET" && !(await arrives))
    await readDeadline().limit(findSession(services, incoming));
  const handled = resultOf(
    route.handle({ ctx: { ...ctx, userId: session.userId, sessionId: session.id }, ...parts }),
  );
  const result = await (route.method === "GET" ? deadline.limit(handled) : handled);
  const cookies = result.cookies ?? session.cookies;
  return renderJson(route.doc, { ...result, cookies }, rendering);
}
