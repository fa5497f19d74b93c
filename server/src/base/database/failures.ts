import { ApiError } from "../errors.ts";

/**
 * What a failed statement means for its caller.
 * - `lost`: the connection broke or the server is away. The statement may or may not have happened.
 * - `again`: the server undid it and a repeat may succeed (deadlock, serialization).
 * - `data`: this statement's own rows are at fault; a repeat fails again.
 * - `defect`: anything else, a fault of ours.
 */
export type FailureKind = "lost" | "again" | "data" | "defect";

/**
 * SQLSTATE classes and codes by meaning: https://www.postgresql.org/docs/18/errcodes-appendix.html
 * Lost: 08 connection, 53 out of resources, 57 operator (shut down, starting up, timed out), 58 system. Beside them a read-only
 * transaction (a standby, or a primary that is being demoted), a commit of unknown outcome, and what a server that is being replaced
 * says to new connections: no such login, password or database.
 */
const lostClasses = ["08", "53", "57", "58"];
const loginCodes = ["28000", "28P01", "3D000"];
const lostCodes = ["25006", "40003", ...loginCodes];
/** Serialization, deadlock, a lock not to be had. */
const againCodes = ["40001", "40P01", "55P03"];
const dataClasses = ["22", "23"];

/** Of the operating system, and of a stream whose end Node has noticed before `pg`. */
const systemError = /^E(?!RR_)[A-Z0-9_]+$|^ERR_(STREAM|SOCKET)_/;

/** Errors that `pg` raises without any code. */
const lostMessages =
  /Connection terminated|connection timeout|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|not queryable|connection has been discarded/i;

/** What the caller of a statement can do about its error. */
export function failureKind(thrown: unknown): FailureKind {
  // The text of a refusal may look like one of pg's.
  if (!(thrown instanceof Error) || thrown instanceof ApiError) return "defect";
  const code = codeOf(thrown);
  // Before the SQLSTATEs, since EPIPE would pass for one; they have no class that begins with E.
  if (systemError.test(code)) return "lost";
  if (/^[0-9A-Z]{5}$/.test(code)) {
    if (againCodes.includes(code)) return "again";
    if (lostCodes.includes(code) || lostClasses.includes(code.slice(0, 2))) return "lost";
    return dataClasses.includes(code.slice(0, 2)) ? "data" : "defect";
  }
  return lostMessages.test(thrown.message) ? "lost" : "defect";
}

/**
 * The server is away, or starts or stops, so that a start can wait for it. Not a login that it rejects, and not an error of our own
 * files, which have a `path`.
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

/** The database broke a unique constraint: somebody else was first. */
export function isUniqueViolation(thrown: unknown): boolean {
  return codeOf(thrown) === "23505";
}
