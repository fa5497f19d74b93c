import type { Database } from "../base/database/index.ts";
import type { ApiError } from "../base/errors.ts";
import type { Auth } from "./auth.ts";
import type { FailedSignIns } from "./failed-sign-ins.ts";

/** The context of operations on a person's account, which belongs to no workspace. */
export interface AccountContext {
  readonly database: Database;
  readonly auth: Auth;
  /** IP address of the client. */
  readonly address: string;
  readonly userAgent: string | undefined;
  readonly failedAttempts: FailedAttempts;
  readonly failedSignIns: FailedSignIns;
}

/** The context of operations that need a session. */
export interface SignedIn extends AccountContext {
  readonly userId: string;
  readonly sessionId: string;
}

/**
 * Limits failed attempts to use a password or link, by IP address. Passwords can be guessed, so
 * above the limit they are not compared at all, unlike keys. The limit does not apply to accounts
 * or sessions, so that others cannot lock a person out.
 */
export interface FailedAttempts {
  /** Call it before a password or link is checked. @throws ApiError `too_many_requests` */
  permit(): void;
  /**
   * Counts a failed attempt.
   * @returns The error to throw: `unauthorized` or `too_many_requests`.
   */
  count(message: string): ApiError;
}
