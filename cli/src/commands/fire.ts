import { BeckonError } from "@beckon/client";
import type { Command } from "commander";
import { type ConnectionOptions, connectWithoutKey, withUrl } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import {
  collect,
  explainStart,
  type Labels,
  printStarted,
  startOptions,
  withLabels,
} from "../labels.ts";
import { readInput, readTextFile } from "../read-text.ts";
import { CommandFailure, SettingError, type Terminal, toJson, UsageError } from "../terminal.ts";

interface Options extends Pick<ConnectionOptions, "url" | "json">, Labels {
  readonly file?: string;
  readonly triggerFile?: string;
  readonly text?: true;
}

/** Adds `beckon fire`. */
export function addFire(
  program: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  const command = program
    .command("fire [payload]")
    .summary("fire a trigger and print the run's id")
    .description(
      "Fires a trigger with a payload and prints the id of the run, which continues by itself. " +
        "If the trigger's settings say that no run is started, prints no id and exits with 0. " +
        "The trigger is the URL or token in BECKON_TRIGGER or in a file. It is a secret, so it is " +
        "not an argument. Without a payload argument, standard input is the payload.",
    )
    .option("--trigger-file <file>", "file with the trigger's URL or token; else BECKON_TRIGGER")
    .option("--file <file>", "read the payload from a file, or - for standard input")
    .option("--text", "send the payload as text, also if it is JSON")
    .option("--json", "print JSON");
  withLabels(withUrl(command), collect).action(
    async (argument: string | undefined, options: Options) => {
      const trigger = await readTrigger(options, terminal);
      const { file, triggerFile } = options;
      // If standard input has the trigger, it is not the payload too, unless an option says so.
      const hasPayload = argument !== undefined || file !== undefined || triggerFile !== "-";
      const text = hasPayload
        ? await readInput({ argument, file }, maxPayloadBytes, terminal)
        : undefined;
      const client = connectWithoutKey(options, terminal);
      const start = startOptions(options, terminal);
      const payload = toPayload(text, options.text === true);
      const fired = await client.triggers
        .fire(trigger, payload, start)
        .catch(explainStart(start.idempotencyKey))
        .catch(explainUnauthorized);
      if (fired.skipped) {
        if (options.json) await terminal.out(`${toJson({ skipped: true })}\n`);
        else terminal.err(`${skipped}\n`);
      } else {
        const text = options.json ? toJson(fired) : fired.run_id;
        await printStarted(`${text}\n`, fired.run_id, terminal);
      }
      finish(exitCodes.done);
    },
  );
}

const skipped =
  "beckon: The trigger accepted the payload and started no run, as its settings say: its filter is " +
  "false, it waits for a sample, form.honeypot has a value, or when_disabled is swallow.";

function explainUnauthorized(thrown: unknown): never {
  if (!(thrown instanceof BeckonError) || thrown.code !== "unauthorized") throw thrown;
  // Keeps Beckon's message: it says whether the token is not valid, or why the trigger could not
  // verify the request.
  throw new CommandFailure(
    thrown.code,
    exitCodes.denied,
    `${thrown.message} The trigger's URL or token comes from BECKON_TRIGGER or --trigger-file.`,
    { requestId: thrown.requestId, idempotencyKey: thrown.idempotencyKey },
  );
}

/**
 * 25 MiB, the largest body that a trigger can be set to accept. Many triggers have a smaller limit.
 * The server rejects a payload above it with an error that names the limit.
 */
const maxPayloadBytes = 25 * 1024 * 1024;

const maxTriggerBytes = 4_096;

async function readTrigger({ triggerFile }: Options, terminal: Terminal): Promise<string> {
  const trigger =
    triggerFile === undefined
      ? terminal.env.BECKON_TRIGGER
      : (await readTextFile(triggerFile, maxTriggerBytes, terminal)).trim();
  if (!trigger) {
    throw new SettingError(
      "There is no trigger. Set BECKON_TRIGGER to its URL or token, or name a file by " +
        "--trigger-file, for example --trigger-file data/demo.trigger.",
    );
  }
  const pattern = /^(https?:\/\/[^\s/?#@]+(\/[^\s?#]+)?\/api\/public\/triggers\/)?[\w-]+\/?$/;
  if (pattern.test(trigger)) return trigger;
  const message =
    "The trigger must be a token, or a URL without user and password that ends with " +
    "/api/public/triggers/<token>.";
  throw triggerFile === undefined ? new SettingError(message) : new UsageError(message);
}

/**
 * Returns a JSON object or list as a `Blob`, which the client sends as JSON, and all else as text.
 * Does not return the parsed value: its numbers would be rounded to the precision of JavaScript.
 */
function toPayload(text: string | undefined, isText: boolean): unknown {
  if (text === undefined || isText || !/^\s*[[{]/.test(text)) return text === "" ? undefined : text;
  try {
    // `JSON.parse` rejects a byte order mark, which Beckon accepts.
    JSON.parse(text.replace(/^\ufeff/, ""));
    return new Blob([text], { type: "application/json" });
  } catch {
    return text;
  }
}
