import { BeckonError } from "@beckon/client";
import { CommanderError } from "commander";
import { exitCodes } from "./exit-codes.ts";
import {
  CommandFailure,
  Interrupted,
  SettingError,
  shown,
  type Terminal,
  UsageError,
} from "./terminal.ts";

/** Codes of errors after which the same command can succeed later. */
const temporary = new Set(["no_answer", "timed_out", "unavailable", "too_many_requests"]);
const denied = new Set(["unauthorized", "forbidden"]);

/** Prints an error as one line, or as JSON, on standard error. @returns the exit code */
export function reportFailure(thrown: unknown, terminal: Terminal, asJson: boolean): number {
  // Commander has printed its message, or what --help and --version ask for.
  if (thrown instanceof CommanderError)
    return thrown.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  const { code, exitCode, message, runId } = describe(thrown);
  if (asJson) {
    const run = runId === undefined ? {} : { run_id: runId };
    terminal.err(`${JSON.stringify({ ok: false, code, error: message, ...run })}\n`);
  } else {
    const run = runId === undefined || message.includes(runId) ? "" : ` (${runId})`;
    terminal.err(`beckon: ${shown(message, { ...terminal, isOutputTerminal: true })}${run}\n`);
  }
  return exitCode;
}

interface Failure {
  readonly code: string;
  readonly exitCode: number;
  readonly message: string;
  readonly runId?: string | undefined;
}

function describe(thrown: unknown): Failure {
  if (thrown instanceof UsageError)
    return { code: "usage", exitCode: exitCodes.usage, message: thrown.message };
  if (thrown instanceof CommandFailure) {
    const { code, exitCode, message } = thrown;
    return { code, exitCode, message };
  }
  if (thrown instanceof SettingError) {
    const exitCode = exitCodes.invalidConfiguration;
    return { code: "invalid_setting", exitCode, message: thrown.message };
  }
  if (thrown instanceof Interrupted) {
    const message = "Interrupted. A run that was started continues.";
    return { code: "interrupted", exitCode: exitCodes.interrupted, message };
  }
  if (thrown instanceof BeckonError) {
    const { code, message, runId } = thrown;
    return { code, exitCode: exitCodeOf(thrown), message, runId };
  }
  // The client checks some arguments itself.
  if (thrown instanceof TypeError)
    return { code: "usage", exitCode: exitCodes.usage, message: thrown.message };
  throw thrown;
}

function exitCodeOf({ code, status, runId }: BeckonError): number {
  if (denied.has(code)) return exitCodes.denied;
  if (temporary.has(code)) return exitCodes.temporary;
  // A proxy responds with these if it does not reach Beckon. A failed run has other codes.
  if (runId === undefined && status !== undefined && [502, 503, 504].includes(status))
    return exitCodes.temporary;
  return exitCodes.failed;
}
