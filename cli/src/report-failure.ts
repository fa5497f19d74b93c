import { BeckonError, isCertificateError } from "@beckon/client";
import { CommanderError } from "commander";
import { exitCodes } from "./exit-codes.ts";
import {
  CommandFailure,
  Interrupted,
  OutputError,
  SettingError,
  shown,
  type Terminal,
  toJson,
  UsageError,
} from "./terminal.ts";

/** Codes of errors after which the same command can succeed later. */
const temporary = new Set([
  "no_answer",
  "timed_out",
  "unavailable",
  "too_many_requests",
  "agent_busy",
]);
const denied = new Set(["unauthorized", "forbidden"]);

/**
 * Prints an error as one line, or as JSON, on standard error.
 * @returns the exit code
 * @throws `thrown` itself if it is not an error that commands are known to throw
 */
export function reportFailure(thrown: unknown, terminal: Terminal, asJson: boolean): number {
  // Commander has already printed the error, or the output of --help or --version.
  if (thrown instanceof CommanderError)
    return thrown.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  // A reader such as `head` closes the pipe when it has enough. This is not an error.
  if (thrown instanceof OutputError && thrown.code === "EPIPE") return exitCodes.done;
  const { code, exitCode, message, runId, idempotencyKey, limit, requestId } = describe(thrown);
  if (asJson) {
    const known = { run_id: runId, idempotency_key: idempotencyKey, limit, request_id: requestId };
    terminal.err(`${toJson({ ok: false, code, error: message, ...known })}\n`);
  } else {
    const run = runId === undefined || message.includes(runId) ? "" : ` (${runId})`;
    terminal.err(`beckon: ${shown(message, { ...terminal, isOutputTerminal: true })}${run}\n`);
  }
  return exitCode;
}

/** Prints a warning as one line, or as JSON, on standard error. */
export function reportWarning(warning: string, terminal: Terminal, asJson: boolean): void {
  const text = shown(warning, { ...terminal, isOutputTerminal: true });
  terminal.err(asJson ? `${toJson({ warning })}\n` : `beckon: ${text}\n`);
}

interface Failure extends Partial<Pick<BeckonError, "idempotencyKey" | "limit" | "requestId">> {
  readonly code: string;
  readonly exitCode: number;
  readonly message: string;
  readonly runId?: string | undefined;
}

function describe(thrown: unknown): Failure {
  if (thrown instanceof UsageError)
    return { code: "usage", exitCode: exitCodes.usage, message: thrown.message };
  if (thrown instanceof CommandFailure) {
    const { code, exitCode, message, runId, idempotencyKey, requestId } = thrown;
    return { code, exitCode, message, runId, idempotencyKey, requestId };
  }
  if (thrown instanceof OutputError)
    return { code: "not_written", exitCode: exitCodes.failed, message: thrown.message };
  if (thrown instanceof SettingError) {
    const exitCode = exitCodes.invalidConfiguration;
    return { code: "invalid_setting", exitCode, message: thrown.message };
  }
  if (thrown instanceof Interrupted) {
    return { code: "interrupted", exitCode: exitCodes.interrupted, message: "Interrupted." };
  }
  if (thrown instanceof BeckonError) {
    const { code, runId, idempotencyKey, limit, requestId } = thrown;
    const exitCode = exitCodeOf(thrown);
    return { code, exitCode, message: messageOf(thrown), runId, idempotencyKey, limit, requestId };
  }
  // The client throws a TypeError for an invalid argument, before it sends a request.
  if (thrown instanceof TypeError)
    return { code: "usage", exitCode: exitCodes.usage, message: thrown.message };
  throw thrown;
}

const putKey = "Put a valid key into BECKON_KEY, or name its file by --key-file.";
const unauthorized =
  "Beckon does not accept the key: it is incomplete, has expired, was rotated or revoked, or is " +
  `the token of another agent. Check the agent's id. ${putKey}`;

const addressSources =
  "The address comes from --url, from BECKON_URL or, for a trigger, from its URL.";

/**
 * Returns the error's message. For some codes it returns another one, because the API's own message
 * explains how to change the HTTP request, and a person at a terminal changes options instead.
 */
function messageOf(error: BeckonError): string {
  const { code, message, runId, idempotencyKey } = error;
  switch (code) {
    case "unauthorized":
      // With an Idempotency-Key, the message says that an earlier request may have started a run.
      return idempotencyKey === undefined ? unauthorized : `${message} ${putKey}`;
    case "no_answer":
      return (
        `${message.replace(/\.?$/, ".")} ` +
        (isCertificateError(error)
          ? "If the certificate is of an authority of your own, name the authority's file in " +
            "NODE_EXTRA_CA_CERTS; else correct the certificate or the address."
          : `Check that Beckon runs there. ${addressSources}`)
      );
    case "unexpected_answer":
      return isRedirect(error) ? `${message} ${addressSources}` : message;
    case "timed_out":
      return runId === undefined ? message : `${message} Follow it: beckon runs tail ${runId}`;
    default:
      return message;
  }
}

/** Returns whether something at Beckon's address, for example a proxy, redirects elsewhere. */
function isRedirect({ code, status = 0 }: BeckonError): boolean {
  return code === "unexpected_answer" && status >= 300 && status < 400;
}

function exitCodeOf(error: BeckonError): number {
  const { code, status = 0, runId } = error;
  if (denied.has(code)) return exitCodes.denied;
  if (isCertificateError(error) || isRedirect(error))
    return runId === undefined ? exitCodes.invalidConfiguration : exitCodes.continues;
  // A proxy responds so if it does not reach Beckon, or gets too many requests.
  const isOfProxy = code === "unexpected_answer" && (status === 429 || status >= 500);
  // A script that repeats the command after `temporary` would start a second run.
  if (temporary.has(code) || isOfProxy)
    return runId === undefined ? exitCodes.temporary : exitCodes.continues;
  // With another code of Beckon and a run id, the error is that of a failed run.
  if (runId === undefined && [502, 503, 504].includes(status)) return exitCodes.temporary;
  return exitCodes.failed;
}
