import { ApiError } from "../errors.ts";

/**
 * What the caller of a failed statement can do.
 * - `lost`: the connection broke or the server is unavailable. The statement may have been
 *   executed.
 * - `again`: the server rolled the transaction back and a retry can succeed (deadlock,
 *   serialization).
 * - `data`: the statement's own rows are invalid; a retry fails again.
 * - `defect`: anything else, a bug in Beckon.
 */
export type FailureKind = "lost" | "again" | "data" | "defect";

/**
 * SQLSTATE classes and codes: https://www.postgresql.org/docs/18/errcodes-appendix.html Lost: 08
 * connection, 53 out of resources, 57 operator intervention (shutdown, startup, timeout), 58 system
 * error. Also a read-only transaction (a standby, or a primary that is being demoted), a commit
 * with unknown outcome, and the errors of a server that is being replaced: unknown role, password
 * or database.
 */
const lostClasses = ["08", "53", "57", "58"];
const loginCodes = ["28000", "28P01", "3D000"];
const lostCodes = ["25006", "40003", ...loginCodes];
/** Serialization failure, deadlock, lock not available. */
const againCodes = ["40001", "40P01", "55P03"];
const dataClasses = ["22", "23"];

/** Codes of the operating system, and of a stream that Node found closed before `pg` did. */
const systemError = /^E(?!RR_)[A-Z0-9_]+$|^ERR_(STREAM|SOCKET)_/;

/** Messages of the errors that `pg` throws without a code. */
const lostMessages =
  /Connection terminated|connection timeout|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|not queryable|connection has been discarded/i;

/** Classifies the error of a statement. */
export function failureKind(thrown: unknown): FailureKind {
  // The message of an ApiError can look like one of pg's.
  if (!(thrown instanceof Error) || thrown instanceof ApiError) return "defect";
  const code = codeOf(thrown);
  // Checked before SQLSTATEs, because EPIPE has the form of one. No SQLSTATE class begins with E.
  if (systemError.test(code)) return "lost";
  if (/^[0-9A-Z]{5}$/.test(code)) {
    if (againCodes.includes(code)) return "again";
    if (lostCodes.includes(code) || lostClasses.includes(code.slice(0, 2))) return "lost";
    return dataClasses.includes(code.slice(0, 2)) ? "data" : "defect";
  }
  return lostMessages.test(thrown.message) ? "lost" : "defect";
}

/**
 * Returns whether the server is unavailable, starting or stopping, so that startup can wait for it.
 * False for a rejected login, and for errors of local files, which have a `path`.
 */
export function isUnreachable(thrown: unknown): boolean {
  const isFile = thrown instanceof Error && "path" in thrown;
  return failureKind(thrown) === "lost" && !isFile && !loginCodes.includes(codeOf(thrown));
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string"
    ? thrown.code
    : "";
}

/**
 * Returns whether the statement violated a unique constraint, for example because of a concurrent
 * insert.
 */
export function isUniqueViolation(thrown: unknown): boolean {
  return codeOf(thrown) === "23505";
}
