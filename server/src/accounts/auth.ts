import type { Database } from "../base/database/index.ts";
import type { Sessions } from "./sessions-by-library.ts";

/** Sessions and their cookie. */
export interface Auth extends Sessions {
  /** Returns whether a `Cookie` header contains a session cookie, valid or not. */
  hasSessionCookie(cookies: string | undefined): cookies is string;
  /** `Set-Cookie` value that deletes the session cookie. */
  readonly clearCookie: string;
}

/**
 * Returns the name of the session cookie. Browsers accept a cookie with the prefix `__Host-` only
 * from the host that receives it (RFC 6265bis, section 4.1.3.2). Without the prefix, another host
 * of the domain could replace a person's session by its own.
 * @param secure Whether the cookie is sent over TLS only, which the prefix requires.
 */
export function sessionCookieName(secure: boolean): string {
  return `${secure ? "__Host-" : ""}beckon.session_token`;
}

/**
 * Creates the `Auth` of an installation. The library better-auth is loaded when the first session
 * is created or looked up, because it needs some 25 MiB of memory, and many installations serve API
 * callers only.
 * @param secure Whether cookies are sent over TLS only (`__Host-` prefix).
 */
export function createAuth(given: {
  database: Database;
  masterKey: Buffer;
  secure: boolean;
}): Auth {
  const { secure } = given;
  const cookieName = sessionCookieName(secure);
  let loaded: Promise<Sessions> | undefined;
  const sessions = () => {
    loaded ??= import("./sessions-by-library.ts")
      .then(({ openSessions }) => openSessions({ ...given, cookieName }))
      .catch((thrown: unknown) => {
        // The library could not be loaded, for example because too many files were open. The next
        // request that needs a session tries again.
        loaded = undefined;
        throw thrown;
      });
    return loaded;
  };
  return {
    startSession: async (visit) => (await sessions()).startSession(visit),
    find: async (cookies) => (await sessions()).find(cookies),
    hasSessionCookie: (cookies): cookies is string => cookies?.includes(`${cookieName}=`) === true,
    clearCookie: `${cookieName}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`,
  };
}
