/**
 * What a failed statement means for its caller.
 * - `lost`: the connection broke or the server is away. The statement may or may not have happened.
 * - `again`: the server undid it and a repeat may succeed (deadlock, serialization).
 * - `data`: this statement's own rows are at fault; a repeat fails again.
 * - `defect`: anything else, a fault of ours.
 */
export type FailureKind = "lost" | "again" | "data" | "defect";

/** SQLSTATE classes by meaning: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const lostClasses = ["08", "57", "53", "58", "XX"];
const againCodes = ["40001", "40P01", "55P03"];
const dataClasses = ["22", "23"];

/** Errors that `pg` and the socket below it raise without a SQLSTATE. */
const lostMessages =
  /Connection terminated|connection timeout|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|not queryable|Cannot use a pool after calling end/i;

/** 25006 is a read-only transaction: a standby, or a primary that is being demoted. */
export function failureKind(thrown: unknown): FailureKind {
  if (!(thrown instanceof Error)) return "defect";
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
  if (againCodes.includes(code)) return "again";
  if (code === "57014" || code === "25006") return "lost";
  if (/^[0-9A-Z]{5}$/.test(code)) {
    if (lostClasses.includes(code.slice(0, 2))) return "lost";
    return dataClasses.includes(code.slice(0, 2)) ? "data" : "defect";
  }
  return /^E[A-Z]+$/.test(code) || lostMessages.test(thrown.message) ? "lost" : "defect";
}

/** The database broke a unique constraint: somebody else was first. */
export function isUniqueViolation(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "23505";
}
