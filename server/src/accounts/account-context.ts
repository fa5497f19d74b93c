import type { Database } from "../base/database/index.ts";
import type { ApiError } from "../base/errors.ts";
import type { Auth } from "./auth.ts";
import type { RefusedSignIns } from "./refused-sign-ins.ts";

/** Handed to every verb about a person's account. It belongs to no workspace. */
export interface AccountContext {
  readonly database: Database;
  readonly auth: Auth;
  /** Where the request came from. */
  readonly address: string;
  readonly userAgent: string | undefined;
  readonly guesses: Guesses;
  readonly refusedSignIns: RefusedSignIns;
}

/** The same, from somebody who is signed in. */
export interface SignedIn extends AccountContext {
  readonly userId: string;
  readonly sessionId: string;
}

/**
 * Passwords can be guessed, so whoever guesses must be slowed down: unlike a key, a password is not even looked at beyond the limit. It
 * stands by address, so nobody is locked out of an account by strangers, and who is signed in goes on.
 */
export interface Guesses {
  /** @throws ApiError `too_many_requests` beyond the limit. */
  permit(): void;
  /** Counts one that was wrong. @returns the answer to it. */
  wrong(message: string): ApiError;
}
