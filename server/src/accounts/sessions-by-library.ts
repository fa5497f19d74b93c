import { AsyncLocalStorage } from "node:async_hooks";
import { hkdfSync } from "node:crypto";
import { betterAuth } from "better-auth";
import { createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { z } from "zod";
import { type Database, databaseUnavailable, failureKind } from "../base/database/index.ts";
import { type IdPrefix, newId } from "../base/ids.ts";

/** Creates and finds sessions. */
export interface Sessions {
  /** Creates a session. The caller must have checked the person's password. */
  startSession(given: { userId: string } & Visitor): Promise<NewSession>;
  /** Returns the valid session of a `Cookie` header, or undefined. Sessions are not cached. */
  find(cookies: string): Promise<FoundSession | undefined>;
}

/** The client that signs in, as the list of sessions shows it. */
export interface Visitor {
  readonly address: string;
  readonly userAgent: string | undefined;
}

interface NewSession {
  /** The session token, which the cookie contains in signed form. */
  readonly token: string;
  /** `Set-Cookie` values. */
  readonly cookies: readonly string[];
}

interface FoundSession {
  readonly id: string;
  readonly userId: string;
  /** `Set-Cookie` values if the session's expiry was extended, else an empty list. */
  readonly cookies: readonly string[];
}

/** A session expires this long after its last extension. */
const lifetimeSeconds = 30 * 24 * 3_600;
/** A session in use is extended at most once in this time, so that most requests write nothing. */
const renewalSeconds = 24 * 3_600;

/**
 * Prefixes of the ids that better-auth generates, by better-auth's name of the table. In practice
 * only `session` is used, because Beckon lets better-auth create sessions and no other rows.
 */
const prefixes: Readonly<Record<string, IdPrefix>> = {
  user: "usr",
  session: "ses",
  account: "acc",
};

/**
 * Header that passes the client's IP address to better-auth. Clients cannot set it, because the
 * headers of their requests are not passed on to better-auth.
 */
const addressHeader = "x-address";

/**
 * Configures better-auth to create and find sessions in Beckon's tables and to sign their cookies.
 * The routes of better-auth are not mounted, it writes no log, and it sends no telemetry unless an
 * operator sets BETTER_AUTH_TELEMETRY and an endpoint. Accounts and passwords are changed by
 * Beckon's own code, which writes each change and its audit entry in one transaction.
 *
 * Cookies are signed with a key derived from the master key. Cookies of other installations are
 * therefore rejected, and a new master key invalidates all sessions.
 * @param secure Whether cookies are sent over TLS only.
 * @throws If better-auth cannot initialise itself, for example because too many files are open.
 */
export async function openSessions({
  database,
  masterKey,
  cookieName,
  secure,
}: {
  database: Database;
  masterKey: Buffer;
  cookieName: string;
  secure: boolean;
}): Promise<Sessions> {
  const secret = Buffer.from(
    hkdfSync("sha256", masterKey, "", "beckon session cookies", 32),
  ).toString("hex");
  const failures = new AsyncLocalStorage<{ cause: unknown }>();
  const auth = betterAuth({
    // Required by better-auth, but not used in any response.
    baseURL: "http://localhost",
    // Without `secret` and `secrets`, better-auth would read them from the environment.
    secret,
    secrets: [{ version: 1, value: secret }],
    database: { db: database.accounts, type: "postgres" },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    // better-auth logs the cause of a failure and throws a generic error; see `withCause`.
    logger: { log: (_level, _message, ...about) => remember(failures.getStore(), about) },
    plugins: [{ id: "beckon", endpoints: { startSession } }],
    session: {
      modelName: "sessions",
      fields: sessionFields,
      expiresIn: lifetimeSeconds,
      updateAge: renewalSeconds,
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
      // If true, better-auth would put `__Secure-` in front of the name.
      useSecureCookies: false,
      cookies: { session_token: { name: cookieName } },
      // With `strict`, browsers send the cookie only with requests of Beckon's own pages. They do
      // not even send it when a person follows a link from another site.
      defaultCookieAttributes: { secure, httpOnly: true, sameSite: "strict", path: "/" },
      ipAddress: { ipAddressHeaders: [addressHeader], ipv6Subnet: 128 },
      database: {
        generateId: ({ model }) => newId(prefixes[model] ?? "req"),
        validateSchema: false,
      },
    },
  });

  /**
   * Calls better-auth. If better-auth throws a generic error, this function throws the cause that
   * better-auth logged.
   * @throws ApiError `unavailable` if the database connection was lost.
   */
  async function withCause<T>(call: () => Promise<T>): Promise<T> {
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

  // better-auth initialises itself in the background, and does not try again if that fails. If it
  // fails, the error is thrown here, and `createAuth` makes a new instance for the next request.
  await withCause(() => auth.$context);
  return {
    async startSession({ userId, address, userAgent }) {
      const headers = new Headers({
        [addressHeader]: address,
        ...(userAgent === undefined ? {} : { "user-agent": userAgent }),
      });
      const result = await withCause(() =>
        auth.api.startSession({ body: { userId }, headers, returnHeaders: true }),
      );
      return { token: result.response.token, cookies: result.headers.getSetCookie() };
    },
    async find(cookies) {
      const result = await withCause(() =>
        auth.api.getSession({ headers: new Headers({ cookie: cookies }), returnHeaders: true }),
      ).catch((thrown: unknown) => {
        // better-auth throws 401 if the session was deleted while better-auth extended it. There is
        // then no valid session.
        if (statusOf(thrown) === 401) return undefined;
        throw thrown;
      });
      if (result === undefined || result.response === null) return undefined;
      const { session } = result.response;
      return {
        id: session.id,
        userId: session.userId,
        cookies: result.headers.getSetCookie(),
      };
    },
  };
}

/**
 * Creates a session and sets its cookie. better-auth's own sign-in finds accounts by e-mail, but
 * several accounts can have the same e-mail. So `sign-in.ts` finds the account and compares the
 * password. This endpoint has no path and therefore cannot be called over HTTP.
 */
const startSession = createAuthEndpoint(
  { method: "POST", body: z.object({ userId: z.string() }) },
  async (ctx) => {
    const { internalAdapter } = ctx.context;
    const user = await internalAdapter.findUserById(ctx.body.userId);
    if (user === null) throw new Error("the account of the new session does not exist");
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

/**
 * Stores in `slot` the first error that better-auth logs during a call. `withCause` throws it if
 * the call fails.
 */
function remember(slot: { cause: unknown } | undefined, about: readonly unknown[]): void {
  const error = about.find((each) => each instanceof Error);
  if (slot !== undefined && error !== undefined) slot.cause ??= error;
}

/** Returns the HTTP status of an error that better-auth throws; undefined for other errors. */
function statusOf(thrown: unknown): number | undefined {
  const status = thrown instanceof Error && "statusCode" in thrown ? thrown.statusCode : undefined;
  return typeof status === "number" ? status : undefined;
}
