import { randomBytes } from "node:crypto";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { elapsed } from "./base/clock.ts";
import { type Embedded, startEmbedded } from "./base/database/embedded/index.ts";
import { ConfigError, messageOf } from "./base/errors.ts";
import { exitCodes } from "./base/exit-codes.ts";
import { createLog } from "./base/log.ts";
import { readOrCreateSecret } from "./base/secrets/index.ts";
import { type Config, readConfig } from "./config.ts";
import { type ClaimedPort, claimPort, greeting, keepServers } from "./supervisor/index.ts";

/**
 * The parent of everything: it locks the data folder, keeps the secrets, runs PostgreSQL unless DATABASE_URL names one, and keeps
 * the servers running. It does no tenant work, so that no request can take down what would start its successor.
 *
 *   started by       script/server
 *   starts           PostgreSQL, then the servers
 *   stops            on a signal that asks for it: the servers drain, PostgreSQL last. A second signal hurries.
 *   killed by -9     the servers end as their channel closes; PostgreSQL goes on, and the next start stops it
 */
export async function supervise({
  config,
  env,
  serverEntry,
  out,
  databaseWaitMs = 300_000,
}: {
  config: Config;
  /** What the servers inherit, beside what is added here. */
  env: Readonly<Record<string, string | undefined>>;
  /** The module that each server runs. */
  serverEntry: string;
  /** Text for the person at the terminal. */
  out: (text: string) => void;
  /** How long a start waits for a database that cannot be reached yet. */
  databaseWaitMs?: number;
}): Promise<number> {
  const log = createLog(config.logLevel);
  const signals = listenForSignals();
  let embedded: Embedded | undefined;
  let port: ClaimedPort | undefined;
  try {
    if (config.databaseUrl === undefined) {
      embedded = await startEmbedded({
        dataDir: config.dataDir,
        log,
        signal: signals.stop,
        connections: connectionsFor(config),
      });
    }
    const bootstrapKeyPath =
      embedded && config.bootstrapKey === undefined
        ? join(config.dataDir, "bootstrap.key")
        : undefined;
    const masterKey =
      config.masterKey ??
      (await readOrCreateSecret(join(config.dataDir, "master.key"), newMasterKey));
    const bootstrapKey =
      bootstrapKeyPath === undefined
        ? config.bootstrapKey
        : await readOrCreateSecret(bootstrapKeyPath, newBootstrapKey);
    port = config.processes > 1 ? await claimPort(config) : undefined;
    // Nobody waits at a port whose servers are ending.
    signals.stop.addEventListener("abort", () => port?.close());
    let greeted = false;
    return await keepServers({
      entry: serverEntry,
      count: config.processes,
      env: {
        ...env,
        DATABASE_URL: embedded?.url ?? config.databaseUrl,
        BECKON_MASTER_KEY: masterKey,
        BECKON_BOOTSTRAP_KEY: bootstrapKey,
      },
      aloneOnDatabase: embedded !== undefined,
      portFd: port?.fd,
      databaseWaitMs,
      drainMs: (config.drainSeconds + drainMarginSeconds) * 1_000,
      stop: signals.stop,
      hurry: signals.hurry,
      log,
      onReady: (ready) => {
        if (!greeted) out(greeting({ ready, bootstrapKeyPath, postgres: embedded }));
        greeted = true;
      },
      onFailure: (reason) => out(cannotStart(reason)),
    });
  } catch (thrown) {
    if (signals.stop.aborted) return 0;
    out(cannotStart(messageOf(thrown)));
    return thrown instanceof ConfigError ? exitCodes.invalidConfiguration : 1;
  } finally {
    port?.close();
    await embedded?.stop(signals.hurry);
  }
}

function cannotStart(reason: string): string {
  return `Beckon cannot start. ${reason}\n`;
}

/** What a server needs to end by itself after its drain time. */
const drainMarginSeconds = 5;

/** A pool for each server, a few connections of their own (lease, migrations), some to spare for a person with psql. */
function connectionsFor({ processes, poolSize }: Config): number {
  return Math.max(50, processes * (poolSize + 5) + 10);
}

function newMasterKey(): string {
  return randomBytes(32).toString("base64");
}

function newBootstrapKey(): string {
  return `bootstrap_${randomBytes(32).toString("base64url")}`;
}

/** One Ctrl-C may arrive twice: from the terminal, and passed on by npm or a shell. */
const echoMs = 500;

/** Signals that would end this process by default and leave PostgreSQL behind. */
const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPWR", "SIGXCPU"] as const;
const ignoredSignals = [
  "SIGUSR1",
  "SIGUSR2",
  "SIGALRM",
  "SIGVTALRM",
  "SIGIO",
  "SIGSTKFLT",
] as const;

/** For the rest of the process's life: a signal that arrives at the very end must not look like a crash. */
function listenForSignals(): { stop: AbortSignal; hurry: AbortSignal } {
  const stop = new AbortController();
  const hurry = new AbortController();
  let first: number | undefined;
  for (const name of ignoredSignals) if (name in constants.signals) process.on(name, () => {});
  for (const name of stopSignals) {
    if (!(name in constants.signals)) continue; // macOS has fewer.
    process.on(name, () => {
      first ??= elapsed();
      stop.abort();
      if (elapsed() - first > echoMs) hurry.abort();
    });
  }
  return { stop: stop.signal, hurry: hurry.signal };
}

if (import.meta.main) {
  // The terminal may go away before we do.
  process.stdout.on("error", () => {});
  const out = (text: string) => void process.stdout.write(text);
  try {
    const serverEntry = fileURLToPath(new URL("./main.ts", import.meta.url));
    process.exitCode = await supervise({
      config: readConfig(process.env),
      env: process.env,
      serverEntry,
      out,
    });
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    out(`Beckon cannot start.\n${thrown.message}\n`);
    process.exitCode = exitCodes.invalidConfiguration;
  }
}
