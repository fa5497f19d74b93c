import { AsyncLocalStorage } from "node:async_hooks";
import { hkdfSync } from "node:crypto";
import { betterAuth } from "better-auth";
import { createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { z } from "zod";
import { type Database, databaseUnavailable, failureKind } from "../base/database/index.ts";
import { type IdPrefix, newId } from "../base/ids.ts";

/** What a sign-in gives, and what tells that it stands. */
export interface Auth {
  /** Starts a session for a person whose password was compared. */
  startSession(given: { userId: string } & Visitor): Promise<NewSession>;
  /** The session behind a request's cookies, asked of the database each time, or undefined. */
  find(cookies: string): Promise<FoundSession | undefined>;
  /** Whether a request carries a cookie of ours, which may not stand. */
  mayBeSession(cookies: string | undefined): cookies is string;
  /** A header that ends the cookie in the browser. */
  readonly farewell: string;
}

/** Who signs in, for the list of sessions. */
export interface Visitor {
  readonly address: string;
  readonly userAgent: string | undefined;
}

interface NewSession {
  /** What its cookie holds. */
  readonly token: string;
  /** The headers that set it. */
  readonly cookies: readonly string[];
}

interface FoundSession {
  readonly id: string;
  readonly userId: string;
  /** Set again, since the session's end has moved. */
  readonly cookies: readonly string[];
}

/** Seconds. A session that is used lives on; its end is moved once a day, so that most requests write nothing. */
const lifetime = 30 * 24 * 3_600;
const renewal = 24 * 3_600;

const prefixes: Readonly<Record<string, IdPrefix>> = {
  user: "usr",
  session: "ses",
  account: "acc",
};

/** Carries our word for the caller's address to the library. No caller's header has that name: only ours are handed on. */
const addressHeader = "x-address";

/**
 * better-auth on our tables: it makes and finds sessions and signs their cookies. Its routes are
 * not reachable, it sends nothing anywhere (short of an operator who sets its own
 * BETTER_AUTH_TELEMETRY and an endpoint beside it), and logs nothing. What changes people and
 * passwords is ours (`store.ts`), since it must be one transaction with what hangs on it and with
 * its record.
 *
 * Cookies are signed with a key derived from the master key: no other installation's are taken, and
 * a new master key ends all sessions.
 */
export function createAuth({
  database,
  masterKey,
  secure,
}: {
  database: Database;
  masterKey: Buffer;
  secure: boolean;
}): Auth {
  const secret = Buffer.from(
    hkdfSync("sha256", masterKey, "", "beckon session cookies", 32),
  ).toString("hex");
  const failures = new AsyncLocalStorage<{ cause: unknown }>();
  const auth = betterAuth({
    // Named in nothing that leaves this process.
    baseURL: "http://localhost",
    // Both, or it would look for the other one in the environment.
    secret,
    secrets: [{ version: 1, value: secret }],
    database: { db: database.accounts, type: "postgres" },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    // The library tells of a failure in its log only, and answers that something was wrong.
    logger: { log: (_level, _message, ...about) => remember(failures.getStore(), about) },
    plugins: [{ id: "beckon", endpoints: { startSession } }],
    session: {
      modelName: "sessions",
      fields: sessionFields,
      expiresIn: lifetime,
      updateAge: renewal,
      cookieCache: { enabled: false },
    },
    user: {
      modelName: "users",
      fields: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
    },
    account: { modelName: "accounts", fields: accountFields },
    verification: {
      modelName: "verifications",
      fields: { expiresAt: "expires_at", createdAt: "created_at", updatedAt: "updated_at" },
    },
    advanced: {
      cookiePrefix: "beckon",
      useSecureCookies: secure,
      // No page of another site's making sends it along, not even by a link; the dashboard's own requests do.
      defaultCookieAttributes: { httpOnly: true, sameSite: "strict", path: "/" },
      ipAddress: { ipAddressHeaders: [addressHeader], ipv6Subnet: 128 },
      database: {
        generateId: ({ model }) => newId(prefixes[model] ?? "req"),
        validateSchema: false,
      },
    },
  });
  const cookieName = `${secure ? "__Secure-" : ""}beckon.session_token`;

  /** A failure of the database is told as such, not as the library's. */
  async function ask<T>(call: () => Promise<T>): Promise<T> {
    const slot = { cause: undefined as unknown };
    try {
      return await failures.run(slot, call);
    } catch (thrown) {
      const cause = slot.cause ?? thrown;
      throw failureKind(cause) === "lost"
        ? databaseUnavailable(cause)
        : statusOf(thrown) === 500
          ? cause
          : thrown;
    }
  }

  return {
    async startSession({ userId, address, userAgent }) {
      const headers = new Headers({
        [addressHeader]: address,
        ...(userAgent === undefined ? {} : { "user-agent": userAgent }),
      });
      const answer = await ask(() =>
        auth.api.startSession({ body: { userId }, headers, returnHeaders: true }),
      );
      return { token: answer.response.token, cookies: answer.headers.getSetCookie() };
    },
    async find(cookies) {
      const answer = await ask(() =>
        auth.api.getSession({ headers: new Headers({ cookie: cookies }), returnHeaders: true }),
      );
      const found = answer.response;
      return found === null
        ? undefined
        : {
            id: found.session.id,
            userId: found.session.userId,
            cookies: answer.headers.getSetCookie(),
          };
    },
    mayBeSession: (cookies): cookies is string => cookies?.includes(`${cookieName}=`) === true,
    farewell: `${cookieName}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`,
  };
}

/**
 * The library's own sign-in finds a person by e-mail, which several accounts can carry: so we
 * compare the password, and this does the rest. Without a path: it can be called from here alone.
 */
const startSession = createAuthEndpoint(
  { method: "POST", body: z.object({ userId: z.string() }) },
  async (ctx) => {
    const { internalAdapter } = ctx.context;
    const user = await internalAdapter.findUserById(ctx.body.userId);
    if (user === null) throw new Error("a session was asked for without a person");
    const session = await internalAdapter.createSession(user.id);
    await setSessionCookie(ctx, { session, user });
    return { token: session.token };
  },
);

const sessionFields = {
  userId: "user_id",
  expiresAt: "expires_at",
  ipAddress: "ip_address",
  userAgent: "user_agent",
  createdAt: "created_at",
  updatedAt: "updated_at",
};

const accountFields = {
  userId: "user_id",
  accountId: "account_id",
  providerId: "method",
  accessToken: "access_token",
  refreshToken: "refresh_token",
  idToken: "id_token",
  accessTokenExpiresAt: "access_token_expires_at",
  refreshTokenExpiresAt: "refresh_token_expires_at",
  createdAt: "created_at",
  updatedAt: "updated_at",
};

function remember(slot: { cause: unknown } | undefined, about: readonly unknown[]): void {
  const error = about.find((each) => each instanceof Error);
  if (slot !== undefined && error !== undefined) slot.cause ??= error;
}

/** The HTTP status of an error that the library throws. */
function statusOf(thrown: unknown): number | undefined {
  const status = thrown instanceof Error && "statusCode" in thrown ? thrown.statusCode : undefined;
  return typeof status === "number" ? status : undefined;
}
