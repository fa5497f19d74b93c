import { type BeckonClient, createClient } from "@beckon/client";
import type { Command } from "commander";
import { readTextFile } from "./read-text.ts";
import { SettingError, type Terminal, UsageError } from "./terminal.ts";

/** Options of every command that calls Beckon. */
export interface ConnectionOptions {
  readonly url?: string;
  readonly keyFile?: string;
  readonly json?: true;
}

const defaultUrl = "http://127.0.0.1:3000";
/**
 * Maximum number of further attempts of a call that starts no run. It is below the default of the
 * client, because a person waits for the result. A start has the client's default: if it fails, it
 * is often not known whether the run was started.
 */
export const retries = 2;

interface Purpose {
  /** Whether the client starts a run. */
  readonly startsRun: boolean;
}

/** Adds the options of every command that calls Beckon. */
export function withConnection(command: Command): Command {
  return withUrl(command)
    .option("--key-file <file>", "file with the key, or - for standard input; else BECKON_KEY")
    .option("--json", "print JSON");
}

/** Adds the option of Beckon's address. */
export function withUrl(command: Command): Command {
  return command.option("--url <url>", `Beckon's address; else BECKON_URL, else ${defaultUrl}`);
}

/**
 * Creates the client of a command. The key comes from a file or the environment and not from an
 * argument, because other users can read the arguments of a process.
 * @throws SettingError or UsageError if there is no key, or the address is not valid
 */
export async function connect(
  options: ConnectionOptions,
  terminal: Terminal,
  { startsRun }: Purpose = { startsRun: false },
): Promise<BeckonClient> {
  return createClient({
    url: urlOf(options, terminal),
    key: await readKey(options, terminal),
    ...(startsRun ? {} : { retries }),
  });
}

/**
 * Creates a client without a key, to fire triggers.
 * @throws SettingError or UsageError if the address is not valid
 */
export function connectWithoutKey(
  options: Pick<ConnectionOptions, "url">,
  terminal: Terminal,
): BeckonClient {
  return createClient({ url: urlOf(options, terminal) });
}

/**
 * Returns Beckon's address.
 * @throws UsageError if `--url` is not valid, SettingError if BECKON_URL is not
 */
function urlOf({ url }: Pick<ConnectionOptions, "url">, { env }: Terminal): string {
  const name = url === undefined ? "BECKON_URL" : "--url";
  const given = url ?? (env.BECKON_URL || defaultUrl);
  const parsed = URL.parse(given);
  const isValid =
    (parsed?.protocol === "http:" || parsed?.protocol === "https:") &&
    parsed.username === "" &&
    parsed.password === "" &&
    parsed.search === "" &&
    parsed.hash === "";
  if (isValid) return parsed.href;
  const message = `${name} must be an http or https URL without user, query and fragment, for example ${defaultUrl}.`;
  throw url === undefined ? new SettingError(message) : new UsageError(message);
}

const maxKeyBytes = 4_096;

async function readKey({ keyFile }: ConnectionOptions, terminal: Terminal): Promise<string> {
  const key =
    keyFile === undefined
      ? terminal.env.BECKON_KEY
      : (await readTextFile(keyFile, maxKeyBytes, terminal)).trim();
  const name = keyFile === undefined ? "BECKON_KEY" : `The file of --key-file`;
  if (!key) {
    throw keyFile === undefined
      ? new SettingError(
          "There is no key. Set BECKON_KEY, or name a file by --key-file, for example " +
            "--key-file data/bootstrap.key.",
        )
      : new UsageError(`${name} is empty. It must hold a key.`);
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    const message = `${name} must hold one key of printable ASCII characters without spaces.`;
    throw keyFile === undefined ? new SettingError(message) : new UsageError(message);
  }
  return key;
}
