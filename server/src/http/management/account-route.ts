import type { AccountContext, SignedIn } from "../../accounts/index.ts";
import { ApiError } from "../../base/errors.ts";
import type { UnparsedBody } from "../../base/parse.ts";
import { findSession, requireOwnSite, type SessionFound } from "../authentication/index.ts";
import {
  addressOf,
  headerOf,
  holdExchange,
  pathMember,
  type RequestContext,
  readBody,
  readDeadline,
} from "../request/index.ts";
import type { Services } from "../services.ts";
import { managedBody } from "./managed-body.ts";
import { type Answer, render } from "./managed-route.ts";
import type { RouteDoc } from "./route-doc.ts";

/** What a handler of such a route gets: parsed as far as HTTP goes, not judged. */
export interface AccountRequest<Ctx extends AccountContext> {
  readonly ctx: Ctx;
  readonly param: (name: string) => string;
  readonly query: Record<string, string>;
  readonly body: UnparsedBody;
}

interface Described {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Under `/api/public`. */
  readonly path: string;
  readonly doc: RouteDoc;
}

/** Needs no credential, or has it in its body. */
export interface OpenRoute extends Described {
  readonly who: "anybody";
  /** `signedIn`: the session of who is signed in, if anybody. */
  readonly handle: (
    request: AccountRequest<AccountContext> & { signedIn: () => Promise<SessionFound | undefined> },
  ) => Promise<Answer>;
}

/** About the person who is signed in: it takes a session, and no key. */
export interface PersonalRoute extends Described {
  readonly who: "signed in";
  readonly handle: (request: AccountRequest<SignedIn>) => Promise<Answer>;
}

/** A route about a person's account, which belongs to no workspace: no scope, no role, and no Idempotency-Key. */
export type AccountRoute = OpenRoute | PersonalRoute;

/** Handles a request to a route that belongs to a person or to nobody: no workspace, no key. */
export async function handleAccount(
  services: Services,
  route: AccountRoute,
  c: RequestContext,
): Promise<Response> {
  const { incoming, outgoing } = c.env;
  requireOwnSite(services, incoming, { strict: false });
  const address = addressOf(incoming, services.trustProxy);
  const ctx: AccountContext = {
    database: services.database,
    auth: services.auth,
    address,
    userAgent: headerOf(incoming, "user-agent")?.slice(0, 500),
    failedAttempts: {
      permit: () => services.guesses.permit(address),
      count: (message) => services.guesses.answer(address, message),
    },
    failedSignIns: services.failedSignIns,
  };
  const request = async () => {
    const raw =
      route.method === "GET"
        ? undefined
        : await readBody(incoming, () =>
            holdExchange(services.runs.memory.exchanges, address, outgoing),
          );
    return {
      param: (name: string) => pathMember(c, name),
      query: c.req.query(),
      body: managedBody(raw, headerOf(incoming, "content-type"), route.doc),
    };
  };
  if (route.who === "anybody") {
    const signedIn = () => findSession(services, incoming);
    return render({
      ...(await route.handle({ ctx, ...(await request()), signedIn })),
      secret: true,
    });
  }
  const inTime = readDeadline();
  const session = await inTime(findSession(services, incoming));
  if (session === undefined) {
    throw new ApiError(
      "unauthorized",
      "This is about the account of a person. Sign in: POST /api/public/sign-in. A key has no account.",
    );
  }
  const handled = route.handle({
    ctx: { ...ctx, userId: session.userId, sessionId: session.id },
    ...(await request()),
  });
  const answer = await (route.method === "GET" ? inTime(handled) : handled);
  return render({ ...answer, cookies: answer.cookies ?? session.cookies, secret: true });
}
