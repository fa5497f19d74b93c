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
 * Limits failed attempts to use a password or link, by IP address. Above the limit, every request
 * with a password or link is rejected, even if the password or link is correct: otherwise guessing
 * could continue, because a correct guess would still succeed. Requests with a valid key are still
 * accepted. Attempts are not counted by account or session, because others could then lock a person
 * out.
 */
export interface FailedAttempts {
  /**
   * Must be called before a password or link is checked, and again before a password that was found
   * correct is accepted. Comparing passwords takes time. Meanwhile, other requests can fail and
   * reach the limit, and then a correct password must be rejected too.
   * @throws ApiError `too_many_requests` if the limit is reached.
   */
  permit(): void;
  /**
   * Counts a failed attempt.
   * @returns The error to throw: `unauthorized` or `too_many_requests`.
   */
  count(message: string): ApiError;
  /** Counts an attempt like a failed one, although its request succeeds. */
  countSucceeding(): void;
}
