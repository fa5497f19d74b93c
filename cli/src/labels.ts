import { type Command, InvalidArgumentError } from "commander";
import { explainInterrupt } from "./terminal.ts";

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

/** Parses a number of seconds, 1 to 999,999. @throws InvalidArgumentError if it is not valid */
export function seconds(text: string): number {
  const value = Number(text);
  if (/^\d{1,6}$/.test(text) && value >= 1) return value;
  throw new InvalidArgumentError("It must be a whole number of seconds, 1 to 999999.");
}

/** Adds the options of commands that start a run. */
export function withLabels(command: Command, repeat: typeof collect): Command {
  return command
    .option("--idempotency-key <key>", "start one run only, also if this command is repeated")
    .option("--external-id <id>", "your own id of the run, for filters")
    .option("--tag <tag>", "tag of the run, for filters; can be repeated", repeat)
    .option("--callback <url>", "URL that also gets the run's last event");
}

/** For `catch` of a call that starts a run: adds to the error of Ctrl-C that the run continues. */
export const runContinues = explainInterrupt("A run that was started continues.");
