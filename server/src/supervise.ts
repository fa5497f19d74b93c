import { randomBytes } from "node:crypto";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { elapsed } from "./base/clock.ts";
import { type Embedded, startEmbedded } from "./base/database/embedded/index.ts";
import { ConfigError, messageOf } from "./base/errors.ts";
import { exitCodes } from "./base/exit-codes.ts";
import { createLog, type Log } from "./base/log.ts";
import { readOrCreateSecret } from "./base/secrets/index.ts";
import { version } from "./base/version.ts";
import { helpText, parseCommandLine } from "./command-line.ts";
import { type Config, isValidKey, readConfig, unknownSettingWarnings } from "./config.ts";
import {
  type ClaimedPort,
  checkPort,
  claimPort,
  greeting,
  keepServers,
  MetricsCollector,
  type MetricsServer,
  type Ready,
  serveMetrics,
  writeDemoFiles,
} from "./supervisor/index.ts";

/**
 * Runs the supervisor, the parent process of the servers. It stores generated secrets and keeps the
 * servers running. Unless DATABASE_URL is set, it locks the data folder and runs PostgreSQL in it.
 * It serves only requests for metrics, so that no request of an API client can crash the process
 * that restarts servers. Resolves with the exit code.
 *
 *   started by       script/server or `beckon start`
 *   starts           PostgreSQL, then the servers
 *   stops            on a signal: the servers drain, PostgreSQL stops last. A second signal kills
 *                    the servers.
 *   on SIGKILL       the servers exit because their channel closes. PostgreSQL keeps running; the
 *                    next startup stops it.
 */
export async function supervise({
  config,
  env,
  serverEntry,
  out,
  databaseWaitMs = 300_000,
}: {
  config: Config;
  /**
   * Environment of the servers. This function overwrites DATABASE_URL, BECKON_MASTER_KEY,
   * BECKON_BOOTSTRAP_KEY and BECKON_PROCESSES with the values from `config`, or with values that it
   * has generated.
   */
  env: Readonly<Record<string, string | undefined>>;
  /** The module that each server runs. */
  serverEntry: string;
  /** Prints text for the person at the terminal. */
  out: (text: string) => void;
  /**
   * Milliseconds that startup waits for a database that cannot be reached. Default: five minutes.
   */
  databaseWaitMs?: number;
}): Promise<number> {
  const log = createLog(config.logLevels, { format: config.logFormat });
  const own = { process_id: "supervisor" } as const;
  let startedAt: number | undefined;
  const signals = listenForSignals();
  const cwd = process.stdout.isTTY ? process.cwd() : undefined;
  let embedded: Embedded | undefined;
  let port: ClaimedPort | undefined;
  let metrics: Metrics | undefined;
  try {
    if (config.databaseUrl === undefined) {
      embedded = await startEmbedded({
        dataDir: config.dataDir,
        log,
        signal: signals.stop,
        connections: connectionsFor(config),
      });
    }
    if (config.processes > 1) port = await claimPort(config);
    else await checkPort(config);
    // Closes this process's copy of the shared socket. Otherwise the kernel would still accept
    // connections, and clients would wait for servers that are stopping.
    signals.stop.addEventListener("abort", () => port?.close());
    const bootstrapKeyPath =
      embedded && config.bootstrapKey === undefined
        ? join(config.dataDir, "bootstrap.key")
        : undefined;
    const masterKeyPath = join(config.dataDir, "master.key");
    const masterKey =
      config.masterKey ??
      (await readOrCreateKey("BECKON_MASTER_KEY", masterKeyPath, async () => {
        // Loaded only here, so that the supervisor stays small.
        const { newMasterKey } = await import("./new-master-key.ts");
        return newMasterKey(masterKeyPath, embedded?.url, config);
      }));
    const bootstrapKey =
      bootstrapKeyPath === undefined
        ? config.bootstrapKey
        : await readOrCreateKey("BECKON_BOOTSTRAP_KEY", bootstrapKeyPath, newBootstrapKey);

    signals.stop.addEventListener("abort", () => log.write("process stopping", own));
    const greet = async (ready: Ready) => {
      const demoFiles = await writeDemoFiles(config.dataDir, ready.demo);
      out(
        greeting({
          version,
          ready,
          demoFiles,
          hasBootstrapKey: bootstrapKey !== undefined,
          bootstrapKeyPath,
          setupLink: config.setupLink,
          postgres: embedded,
          metricsUrl: metrics?.server.url,
          cwd,
        }),
      );
    };
    let greeted: Promise<void> | undefined;
    metrics = await startMetrics(config, log);
    const exitCode = await keepServers({
      entry: serverEntry,
      count: config.processes,
      env: {
        ...env,
        DATABASE_URL: embedded?.url ?? config.databaseUrl,
        BECKON_MASTER_KEY: masterKey,
        BECKON_BOOTSTRAP_KEY: bootstrapKey,
        // A number, because with `auto` each server would count the CPUs again, and the CPUs of a
        // container can change.
        BECKON_PROCESSES: String(config.processes),
      },
      aloneOnDatabase: embedded !== undefined,
      postgresLogPath: embedded?.logPath,
      portFd: port?.fd,
      databaseWaitMs,
      maxSilentMs: Math.max(2 * config.leaseSeconds, minSilentSeconds) * 1_000,
      drainMs: (maxStopSeconds(config) + drainMarginSeconds) * 1_000,
      stop: signals.stop,
      kill: signals.kill,
      log,
      collector: metrics?.collector,
      onReady: (ready) => {
        if (greeted !== undefined) return;
        startedAt = elapsed();
        log.write("process started", {
          ...own,
          role: "supervisor",
          version,
          pid: process.pid,
          node: process.version,
        });
        greeted = greet(ready);
      },
      onWaiting: (reason, maxWaitMs) =>
        out(`Waiting for PostgreSQL, at most ${Math.ceil(maxWaitMs / 1_000)} s. ${reason}\n`),
      onFailure: (reason) => out(cannotStart(reason)),
      onDraining: (runs) => {
        if (!signals.kill.aborted) out(finishing(runs, maxStopSeconds(config)));
      },
    });
    await greeted;
    return exitCode;
  } catch (thrown) {
    if (signals.stop.aborted) return 0;
    out(cannotStart(messageOf(thrown)));
    return thrown instanceof ConfigError ? thrown.exitCode : 1;
  } finally {
    port?.close();
    metrics?.server.close();
    await embedded?.stop(signals.kill);
    // After a failed start nothing is logged here, so that the reason is the last line of output.
    if (startedAt !== undefined) {
      const uptimeSeconds = Math.round((elapsed() - startedAt) / 1_000);
      log.write("process stopped", { ...own, uptime_seconds: uptimeSeconds });
    }
  }
}

interface Metrics {
  readonly collector: MetricsCollector;
  readonly server: MetricsServer;
}

/** Collects the metrics of the servers and serves them. Does nothing if no port for them is set. */
async function startMetrics(config: Config, log: Log): Promise<Metrics | undefined> {
  const { metricsHost: host, metricsPort: port } = config;
  if (port === undefined) return undefined;
  const collector = await MetricsCollector.create(log, config.processes);
  const server = await serveMetrics({ host, port }, () => collector.collect(), log);
  return { collector, server };
}

function finishing(runs: number, drainSeconds: number): string {
  const what = runs === 1 ? "1 run" : `${runs} runs`;
  return drainSeconds === 0
    ? `Stopping with ${what} in progress, which the next start resumes.\n`
    : `Finishing ${what}, up to ${drainSeconds} s; Ctrl-C again to stop now. ` +
        "The next start resumes unfinished runs.\n";
}

function cannotStart(reason: string): string {
  return `Beckon ${version} cannot start. ${reason}\n`;
}

/**
 * Returns the maximum time for which a stopping server waits for runs and requests. It waits the
 * drain delay up to twice (`divertRequests`): first while `/readyz` responds with 503, then for
 * open connections. After that it waits the drain time.
 */
function maxStopSeconds({ drainDelaySeconds, drainSeconds }: Config): number {
  return 2 * drainDelaySeconds + drainSeconds;
}

/**
 * Seconds that a stopping server has, after `maxStopSeconds`, to close its connections and to write
 * its log. If it still runs then, it is killed.
 */
const drainMarginSeconds = 5;

/**
 * A server that does not reply to the supervisor is killed after this time, or after two leases if
 * they are longer. Other processes resume its runs when its lease has expired, so it can be killed
 * late. If it were killed early, a computation that takes long would interrupt all its runs.
 */
const minSilentSeconds = 60;

/**
 * Returns how many connections PostgreSQL must accept: the pools of all servers, five further
 * connections of each server (one for its lease, one for LISTEN, three while it starts), and ten
 * for other clients such as psql; at least 50.
 */
function connectionsFor({ processes, poolSize }: Config): number {
  return Math.max(50, processes * (poolSize + 5) + 10);
}

/**
 * Returns the key in the file, which `make` creates if the file does not exist.
 * @throws ConfigError if the file contains no valid value of the setting. Without this check, the
 *   servers would report an invalid environment variable, which the operator has not set.
 */
async function readOrCreateKey(
  setting: Parameters<typeof isValidKey>[0],
  path: string,
  make: () => string | Promise<string>,
): Promise<string> {
  const key = await readOrCreateSecret(path, make);
  if (isValidKey(setting, key)) return key;
  throw new ConfigError(`${path} does not contain a valid key. Restore the file from a copy.`);
}

function newBootstrapKey(): string {
  return `bootstrap_${randomBytes(32).toString("base64url")}`;
}

/**
 * Signals within this time after the first one are ignored, because one Ctrl-C can arrive twice:
 * from the terminal, and forwarded by npm or a shell.
 */
const echoMs = 500;

/** Signals that stop Beckon. By default they would end only this process, not PostgreSQL. */
const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPWR", "SIGXCPU"] as const;
const ignoredSignals = [
  "SIGUSR1",
  "SIGUSR2",
  "SIGALRM",
  "SIGVTALRM",
  "SIGIO",
  "SIGSTKFLT",
] as const;

/**
 * Aborts `stop` at the first signal and `kill` at a second one. Handles signals until the process
 * exits, so that a late signal does not change the exit code.
 */
function listenForSignals(): { stop: AbortSignal; kill: AbortSignal } {
  const stop = new AbortController();
  const kill = new AbortController();
  let first: number | undefined;
  for (const name of ignoredSignals) if (name in constants.signals) process.on(name, () => {});
  for (const name of stopSignals) {
    if (!(name in constants.signals)) continue; // macOS lacks some of these signals.
    process.on(name, () => {
      first ??= elapsed();
      stop.abort();
      if (elapsed() - first > echoMs) kill.abort();
    });
  }
  return { stop: stop.signal, kill: kill.signal };
}

/**
 * Starts Beckon, or prints what `--help` and `--version` ask for. Settings are environment
 * variables.
 * @param program what the user typed before the arguments, for messages.
 * @returns the exit code, one of `exitCodes`, 0 or 1.
 */
export async function startFromCommandLine(
  args: readonly string[],
  program: string,
): Promise<number> {
  // Ignores errors such as EPIPE, because the terminal can close before this process exits.
  process.stdout.on("error", () => {});
  const out = (text: string) => void process.stdout.write(text);
  const command = parseCommandLine(args);
  switch (command.kind) {
    case "help":
      out(helpText(program));
      return 0;
    case "version":
      out(`Beckon ${version}\n`);
      return 0;
    case "unknown":
      out(`Unknown argument ${command.argument}. ${program} --help lists what there is.\n`);
      return exitCodes.usage;
    case "start":
      return startFromEnvironment(out);
  }
}

async function startFromEnvironment(out: (text: string) => void): Promise<number> {
  try {
    const config = readConfig(process.env);
    for (const warning of unknownSettingWarnings(process.env)) out(`Warning: ${warning}\n`);
    const serverEntry = fileURLToPath(new URL("./main.ts", import.meta.url));
    return await supervise({ config, env: process.env, serverEntry, out });
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    out(`Beckon ${version} cannot start.\n${thrown.message}\n`);
    return exitCodes.invalidConfiguration;
  }
}

if (import.meta.main)
  process.exitCode = await startFromCommandLine(process.argv.slice(2), "script/server");
