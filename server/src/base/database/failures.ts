import { ApiError } from "../errors.ts";

/**
 * Kind of a failed statement's error, which determines whether a retry is useful.
 * - `lost`: the connection broke or cannot be opened, or the server is unavailable. The statement
 *   may have been executed.
 * - `again`: the server rolled the transaction back and a retry can succeed (deadlock,
 *   serialization failure, lock not available).
 * - `data`: the statement's own rows are invalid, so a retry would fail again.
 * - `defect`: any other error, for example because of a bug in Beckon.
 */
export type FailureKind = "lost" | "again" | "data" | "defect";

/**
 * SQLSTATE classes and codes of `lost`: https://www.postgresql.org/docs/18/errcodes-appendix.html
 * - Classes: 08 connection, 53 out of resources, 57 operator intervention (shutdown, startup,
 *   timeout), 58 system error.
 * - Codes of rejected logins (role, password, database), because a server can reject logins while
 *   it is being replaced.
 * - 25006, a read-only transaction (on a standby, or on a primary that is being demoted).
 * - 25P03 and 25P04, a connection that the server closed because of
 *   `idle_in_transaction_session_timeout` or `transaction_timeout`.
 * - 40003, a commit with unknown outcome.
 */
const lostClasses = ["08", "53", "57", "58"];
const loginCodes = ["28000", "28P01", "3D000"];
const transactionTimeout = "25P04";
const lostCodes = ["25006", "25P03", transactionTimeout, "40003", ...loginCodes];
/** Serialization failure, deadlock, lock not available. */
const againCodes = ["40001", "40P01", "55P03"];
const dataClasses = ["22", "23"];

/**
 * Matches error codes of the operating system, and Node's codes for a stream that has been closed.
 */
const systemError = /^E(?!RR_)[A-Z0-9_]+$|^ERR_(STREAM|SOCKET)_/;

/** Matches the messages of errors that `pg` throws without a code when a connection is lost. */
const lostMessages =
  /Connection terminated|connection timeout|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|not queryable|connection has been discarded/i;

/**
 * Matches Node's codes for a failed TLS handshake. They are `lost`, because a certificate can be
 * renewed while the process runs.
 */
const tlsCode = /^(ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/** Matches the messages of errors that `pg` throws without a code if the server offers no TLS. */
const noTlsMessages =
  /server does not support SSL connections|error establishing an SSL connection/;

/** Classifies the error of a statement. */
export function failureKind(thrown: unknown): FailureKind {
  // An ApiError has no SQLSTATE, and its message could match `lostMessages` by chance.
  if (!(thrown instanceof Error) || thrown instanceof ApiError) return "defect";
  const code = codeOf(thrown);
  // Checked before SQLSTATEs, because EPIPE has the form of one. No SQLSTATE class begins with E.
  if (systemError.test(code)) return "lost";
  if (/^[0-9A-Z]{5}$/.test(code)) {
    if (againCodes.includes(code)) return "again";
    if (lostCodes.includes(code) || lostClasses.includes(code.slice(0, 2))) return "lost";
    return dataClasses.includes(code.slice(0, 2)) ? "data" : "defect";
  }
  if (tlsFailure(thrown) !== undefined) return "lost";
  return lostMessages.test(thrown.message) ? "lost" : "defect";
}

/**
 * Returns why no TLS connection could be opened: `certificate` if the handshake failed, almost
 * always because of the server's certificate; `unsupported` if the server offers no TLS. Undefined
 * for any other error.
 */
export function tlsFailure(thrown: unknown): "certificate" | "unsupported" | undefined {
  const code = codeOf(thrown);
  if (tlsCode.test(code)) return "certificate";
  const isCodeless = thrown instanceof Error && code === "";
  return isCodeless && noTlsMessages.test(thrown.message) ? "unsupported" : undefined;
}

/**
 * Returns whether the server is unavailable, starting or stopping, so that startup can wait for it.
 * Returns false for a rejected login, for TLS errors, and for errors of local files, which have a
 * `path`.
 */
export function isUnreachable(thrown: unknown): boolean {
  if (failureKind(thrown) !== "lost" || tlsFailure(thrown) !== undefined) return false;
  const isFile = thrown instanceof Error && "path" in thrown;
  return !isFile && !loginCodes.includes(codeOf(thrown));
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string"
    ? thrown.code
    : "";
}

/**
 * Returns whether the server cancelled the statement, as it does after `statement_timeout`. After
 * `transaction_timeout`, it also closes the connection.
 */
export function isCancelled(thrown: unknown): boolean {
  return ["57014", transactionTimeout].includes(codeOf(thrown));
}

/** Returns whether a value is outside its range, for example a time zone that does not exist. */
export function isInvalidParameter(thrown: unknown): boolean {
  return codeOf(thrown) === "22023";
}

/** Returns whether the server rejected a write because it or the transaction is read-only. */
export function isReadOnly(thrown: unknown): boolean {
  return codeOf(thrown) === "25006";
}

/**
 * Returns whether the statement violated a unique constraint, for example because of a concurrent
 * insert.
 */
export function isUniqueViolation(thrown: unknown): boolean {
  return codeOf(thrown) === "23505";
}
