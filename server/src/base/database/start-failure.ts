import { Client } from "pg";
import { ConfigError, messageOf } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { isUnreachable, tlsFailure } from "./failures.ts";
import { outageOf } from "./in-workspace.ts";

/**
 * The role that Beckon logs in with lacks a right. The message names the right and how to grant it.
 */
export class MissingRightError extends ConfigError {
  override readonly exitCode = exitCodes.databaseRejected;
}

/** The message if a pooler does not pass on what `connectionSettings` sends as `options`. */
export const optionsNeeded =
  "DATABASE_URL leads to a pooler that drops or rejects the startup parameter `options`, as " +
  "does PgBouncer. Point it at PostgreSQL itself.";

/** Why a server process could not start. */
export interface StartFailure {
  /** One of `exitCodes`, or 1 if none of them applies. */
  readonly exitCode: number;
  /** What happened and what to do, without a secret. */
  readonly reason: string;
}

/** The parts of DATABASE_URL that messages contain. */
interface Target {
  /** `host:port`, or the folder of the socket. */
  readonly address: string;
  readonly user: string;
  readonly database: string;
  /** Path of the log of the PostgreSQL inside; undefined for an external PostgreSQL. */
  readonly logPath: string | undefined;
}

/**
 * Explains an error that ended the start of a server process.
 *
 * A rejected login has an exit code of its own. While no server process has been ready yet, the
 * supervisor waits for an unreachable database, but gives up at once after a rejected login. Later
 * it starts another process instead, because a new primary can reject logins for a moment.
 *
 * If `thrown` is an ApiError `unavailable` of a transaction, explains the database's error.
 *
 * @param postgresLogPath path of the log of the PostgreSQL inside; undefined for an external
 *   PostgreSQL.
 */
export function explainStartFailure(
  thrown: unknown,
  databaseUrl: string | undefined,
  postgresLogPath?: string,
): StartFailure {
  const error = outageOf(thrown) ?? thrown;
  const reason = messageOf(error);
  if (error instanceof ConfigError) return { exitCode: error.exitCode, reason };
  const target = targetOf(databaseUrl, postgresLogPath);
  if (target === undefined) return { exitCode: 1, reason };
  if (codeOf(error) === "08P01" && reason.startsWith("unsupported startup parameter"))
    return { exitCode: exitCodes.invalidConfiguration, reason: `${optionsNeeded} (${reason})` };
  const rejection = explainRejection(error, target);
  if (rejection !== undefined)
    return { exitCode: exitCodes.databaseRejected, reason: `${rejection} (${reason})` };
  if (!isUnreachable(error)) return { exitCode: 1, reason };
  return {
    exitCode: exitCodes.databaseUnreachable,
    reason: `${explainUnreachable(error, target)} (${reason})`,
  };
}

function explainRejection(
  thrown: unknown,
  { address, user, database }: Target,
): string | undefined {
  const code = codeOf(thrown);
  const message = messageOf(thrown);
  if (code === "28P01" || message.startsWith("SASL: "))
    return `PostgreSQL at ${address} rejects the password of ${user}. Correct user and password in DATABASE_URL.`;
  if (code === "28000")
    return `PostgreSQL at ${address} does not let ${user} log in to ${database}. Correct the user in DATABASE_URL, or allow the connection in pg_hba.conf, which can also require TLS (sslmode=verify-full).`;
  if (code === "3D000")
    return `The database ${database} does not exist on ${address}. Create it: create database "${database}" owner "${user}" encoding 'UTF8' locale_provider libc lc_collate 'C' template template0;`;
  if (code === "42501")
    return `PostgreSQL at ${address} denies ${user} a right in ${database}. Make ${user} the owner of the database and of Beckon's tables.`;
  const tls = tlsFailure(thrown);
  if (tls === "certificate")
    return `The TLS certificate of PostgreSQL at ${address} is not accepted. Add sslmode=verify-full&sslrootcert=<file of the CA> to DATABASE_URL and use the host name that the certificate names. sslmode=no-verify accepts any certificate, also an attacker's, and pg_dump and pg_restore reject it.`;
  if (tls === "unsupported")
    return `PostgreSQL at ${address} does not offer TLS, which DATABASE_URL asks for. Turn it on there, or remove sslmode and sslrootcert from DATABASE_URL.`;
  return undefined;
}

function explainUnreachable(thrown: unknown, { address, logPath }: Target): string {
  if (logPath !== undefined) return explainUnreachableInside(thrown, logPath);
  switch (codeOf(thrown)) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The host of PostgreSQL at ${address} is not found. Check the host in DATABASE_URL.`;
    case "ECONNREFUSED":
    case "ENOENT":
      return `Nothing listens at ${address}. Start PostgreSQL, or correct host and port in DATABASE_URL.`;
    case "53300":
      return `PostgreSQL at ${address} has no free connection. Raise max_connections, or lower BECKON_POOL_SIZE.`;
    case "25006":
      return `PostgreSQL at ${address} is read-only: it is a standby, or default_transaction_read_only is on. Point DATABASE_URL at the primary, or turn the setting off.`;
    default:
      return `PostgreSQL at ${address} cannot be reached. Check DATABASE_URL, the network and the server.`;
  }
}

function explainUnreachableInside(thrown: unknown, logPath: string): string {
  switch (codeOf(thrown)) {
    case "53300":
      return "The PostgreSQL inside has no free connection. Disconnect other programs from it.";
    case "25006":
      return "The PostgreSQL inside is read-only. Turn default_transaction_read_only off.";
    default:
      return `The PostgreSQL inside cannot be used. See ${logPath}, and check the free memory and the free space of its disk.`;
  }
}

function targetOf(
  databaseUrl: string | undefined,
  logPath: string | undefined,
): Target | undefined {
  if (databaseUrl === undefined) return undefined;
  try {
    // The client parses the URL as the connection does, and does not connect here.
    const { host, port, user = "", database = "" } = new Client({ connectionString: databaseUrl });
    const address = host.startsWith("/") ? host : `${host}:${port}`;
    return { address, user, database, logPath };
  } catch {
    return undefined;
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string"
    ? thrown.code
    : "";
}
