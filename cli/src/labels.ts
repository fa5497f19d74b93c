import { BeckonError, newIdempotencyKey } from "@beckon/client";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes } from "./exit-codes.ts";
import { CommandFailure, Interrupted, OutputError, type Terminal } from "./terminal.ts";
import { withMessage } from "./with-message.ts";

/** Options of commands that start a run. */
export interface Labels {
  readonly idempotencyKey?: string;
  readonly externalId?: string;
  readonly tag?: readonly string[];
  readonly callback?: string;
}

/** Collects the values of an option that can be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Returns a parser of seconds, 1 to `max`, which throws InvalidArgumentError for anything else. */
export function seconds(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,6}$/.test(text) && value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number of seconds, 1 to ${max}.`);
  };
}

/** Adds the options of commands that start a run. */
export function withLabels(command: Command, repeat: typeof collect): Command {
  return command
    .option(
      "--idempotency-key <key>",
      "start one run only, also if this command is repeated with it",
    )
    .option("--external-id <id>", "your own id of the run, for filters")
    .option("--tag <tag>", "tag of the run, for filters; can be repeated", repeat)
    .option("--callback <url>", "URL that also gets the run's final event");
}

/**
 * Returns the options of a call that starts a run. The Idempotency-Key is random if the caller has
 * given none, so that a message can name it.
 */
export function startOptions(labels: Labels, terminal: Terminal) {
  const { idempotencyKey = newIdempotencyKey(), externalId, tag: tags, callback } = labels;
  return { idempotencyKey, externalId, tags, callback, signal: terminal.stopped };
}

/**
 * Returns a function for `catch` of a call that starts a run. It says that the run continues, or
 * how to repeat the command if it is not known whether the run was started.
 * @param runId returns the id of the run; undefined as long as it is not known
 */
export function explainStart(
  idempotencyKey: string,
  runId: () => string | undefined = () => undefined,
): (thrown: unknown) => never {
  const repeat =
    `Repeat the command with --idempotency-key ${idempotencyKey} within a day: it then starts at ` +
    "most one run.";
  return (thrown) => {
    if (thrown instanceof BeckonError && thrown.idempotencyKey !== undefined)
      throw withMessage(thrown, `${thrown.message} ${repeat}`);
    if (!(thrown instanceof Interrupted)) throw thrown;
    const run = runId();
    const state =
      run === undefined
        ? `It is not known whether the run was started. If it was, it continues. ${repeat}`
        : `${run} continues. Follow it: beckon runs tail ${run}`;
    const message = `Interrupted. ${state}`;
    const known = run === undefined ? { idempotencyKey } : { runId: run };
    throw new CommandFailure("interrupted", exitCodes.interrupted, message, known);
  };
}

/**
 * Prints the result of a call that started a run.
 * @throws CommandFailure with the run's id if standard output cannot be written: a script that does
 *   not know of the run would start a second one
 */
export async function printStarted(text: string, runId: string, terminal: Terminal): Promise<void> {
  await terminal.out(text).catch((thrown) => {
    if (!(thrown instanceof OutputError) || thrown.code === "EPIPE") throw thrown;
    throw new CommandFailure(
      "not_written",
      exitCodes.failed,
      `The run ${runId} was started, but standard output cannot be written (${thrown.code}). ` +
        `Follow it: beckon runs tail ${runId}`,
      { runId },
    );
  });
}
