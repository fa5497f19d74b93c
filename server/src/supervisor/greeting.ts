import { relative } from "node:path";
import type { DemoFile, DemoFiles } from "./demo-files.ts";
import type { Ready } from "./messages.ts";

/** The facts in the greeting, which is the text that startup prints. */
export interface GreetingOptions {
  readonly version: string;
  readonly ready: Ready;
  readonly demoFiles: DemoFiles;
  readonly hasBootstrapKey: boolean;
  /**
   * Path of the data folder's file with the bootstrap key. undefined if BECKON_BOOTSTRAP_KEY is set
   * or if there is no bootstrap key.
   */
  readonly bootstrapKeyPath: string | undefined;
  /** Whether the link for the first owner is printed if there is no owner. */
  readonly setupLink: boolean;
  /**
   * Paths of the embedded PostgreSQL; undefined if an external PostgreSQL is used. `elsewhere` is
   * the folder of PostgreSQL's files if they are not in the data folder.
   */
  readonly postgres:
    | { readonly logPath: string; readonly elsewhere: string | undefined }
    | undefined;
  /** URL of the metrics; undefined if there are none. */
  readonly metricsUrl?: string | undefined;
  /**
   * Working folder of the shell in whose terminal the greeting is printed. Commands contain paths
   * relative to this folder where these are shorter. undefined if the output is not a terminal,
   * for example a journal: its reader is in another folder, so all paths are absolute.
   */
  readonly cwd: string | undefined;
}

/**
 * Returns the text that is printed once Beckon is ready: the address, the paths of files, and
 * `curl` commands. The text often remains in logs, so the link for the first owner is the only
 * secret in it.
 */
export function greeting(options: GreetingOptions): string {
  const { ready, postgres, bootstrapKeyPath } = options;
  const facts: [string, string | undefined][] = [
    ["Listening on", ready.listening_url === ready.url ? undefined : ready.listening_url],
    ["Bootstrap key", bootstrapKeyPath],
    ["PostgreSQL data", postgres?.elsewhere],
    ["PostgreSQL log", postgres?.logPath],
    ["Metrics", options.metricsUrl],
    [
      "Models found",
      ready.providers.map(({ name, model }) => model ?? `${name}/…`).join(", ") || undefined,
    ],
    ...demoFacts(options),
  ];
  const lines = ["", `Beckon ${options.version} is ready at ${ready.url}`, ""];
  for (const [name, value] of facts)
    if (value !== undefined) lines.push(`  ${name.padEnd(16)} ${value}`);
  lines.push(...demoCommands(options), ...keyAdvice(options), ...setupCommands(options));
  return `${lines.join("\n")}\n`;
}

function demoFacts({
  ready: { demo },
  demoFiles,
}: GreetingOptions): [string, string | undefined][] {
  if (!demo?.is_offered) return [];
  return [
    ["Demo agent", demo.agent_id],
    ["Demo token", writtenPath(demoFiles.token)],
    ["Demo trigger", writtenPath(demoFiles.trigger)],
  ];
}

function writtenPath(file: DemoFile | undefined): string | undefined {
  return file?.error === undefined ? file?.path : undefined;
}

function demoCommands(options: GreetingOptions): string[] {
  const { ready, demoFiles, cwd } = options;
  const { token, trigger } = demoFiles;
  if (!ready.demo?.is_offered) return [];
  const agentUrl = `${ready.url}/api/public/agents/${ready.demo.agent_id}`;
  const lines: string[] = [];
  if (token !== undefined && token.error === undefined) {
    lines.push(
      "",
      "Ask the demo agent and wait for its answer:",
      `  curl ${quoted(`${agentUrl}/invoke`)} -H "x-api-key: ${contentOf(token.path, cwd)}" ` +
        `-H 'Content-Type: application/json' -d '{"input":"Hello"}'`,
    );
  }
  if (trigger !== undefined && trigger.error === undefined) {
    lines.push(
      "",
      "Fire its trigger and get a run id at once:",
      `  curl "${contentOf(trigger.path, cwd)}" -H 'Content-Type: text/plain' ` +
        "-d 'Hello from a trigger'",
    );
  }
  const error = token?.error ?? trigger?.error;
  if (error !== undefined) {
    lines.push(
      "",
      `The demo agent's secrets could not be written to the data folder: ${error}.`,
      "Make BECKON_DATA_DIR a folder that can be written, or read the token with a key:",
      `  curl ${quoted(`${agentUrl}/token`)} -H "x-api-key: ${keyFrom(options)}"`,
    );
  }
  return lines;
}

/** Returns shell text that reads the key, for use in double quotes. */
function keyFrom({ bootstrapKeyPath, cwd }: GreetingOptions): string {
  return bootstrapKeyPath === undefined
    ? "$BECKON_BOOTSTRAP_KEY"
    : contentOf(bootstrapKeyPath, cwd);
}

function keyAdvice({ hasBootstrapKey, setupLink, ready }: GreetingOptions): string[] {
  if (hasBootstrapKey) return [];
  const noLink = " BECKON_SETUP_LINK=0 hides the link that makes the first owner.";
  return [
    "",
    "There is no management key, since BECKON_BOOTSTRAP_KEY is not set: only a signed-in owner " +
      `can manage Beckon.${setupLink ? "" : noLink}`,
    "To get a key, set BECKON_BOOTSTRAP_KEY to 32 to 128 random characters " +
      "(openssl rand -hex 32) and start again,",
    `or create one while signed in: POST ${ready.url}/api/public/keys`,
  ];
}

function setupCommands({ ready: { url, setup_token } }: GreetingOptions): string[] {
  if (setup_token === null) return [];
  const body = JSON.stringify({
    token: setup_token,
    name: "Your name",
    email: "you@example.com",
    password: "at least 12 characters",
  });
  return [
    "",
    "There is no owner yet. To become the first, open this link, which works once; each start " +
      "prints a new one:",
    // Browsers do not send the fragment (after #) of a URL, so no proxy can log the token.
    `  ${url}/setup#token=${setup_token}`,
    "or run this with your name, e-mail and password:",
    `  curl ${quoted(`${url}/api/public/setup`)} -H 'Content-Type: application/json' ` +
      `-d ${quoted(body)}`,
  ];
}

/** Returns a command substitution that reads a file, for use in double quotes. */
function contentOf(path: string, cwd: string | undefined): string {
  const fromHere = cwd === undefined ? path : relative(cwd, path);
  const shorter = fromHere.length < path.length ? fromHere : path;
  return `$(cat ${quoted(shorter.startsWith("-") ? `./${shorter}` : shorter)})`;
}

/** Quotes an argument for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
