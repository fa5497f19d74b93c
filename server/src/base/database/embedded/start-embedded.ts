import { createServer } from "node:net";
import { join } from "node:path";
import { Client, escapeLiteral } from "pg";
import type { Log } from "../../log.ts";
import { writeAccessRules } from "./access-rules.ts";
import { choosePlacement } from "./choose-placement.ts";
import { clearTheWay } from "./clear-the-way.ts";
import { initialise } from "./initialise.ts";
import { keepRunning } from "./keep-running.ts";
import { lockDataFolder } from "./lock-data-folder.ts";
import { openLogFile } from "./log-file.ts";
import { openDataFolder } from "./open-data-folder.ts";
import { openSocketFolder } from "./open-socket-folder.ts";
import { rememberHome } from "./place-under-another-user.ts";
import { runPostmaster } from "./run-postmaster.ts";
import { settings } from "./settings.ts";

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** Aborted: the start is given up, nothing is left running. */
  readonly signal?: AbortSignal;
  readonly connections?: number;
  /** The rest is for tests. `superuser` lets any role, `postgres` too, in over the socket. */
  readonly superuser?: boolean;
  /** Settings that replace ours, the durable ones too. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Listens on 127.0.0.1, for `postgres` and `beckon` with this password; implies `superuser`. */
  readonly tcp?: Tcp;
}

interface Tcp {
  /** Absent or 0: a free one. */
  readonly port?: number;
  readonly password: string;
}

export interface Embedded {
  /** For the role `beckon`, over the socket. */
  readonly url: string;
  /** For the superuser on its own database, over TCP; only if `tcp` was asked for. */
  readonly tcpUrl: string | undefined;
  readonly socketDir: string;
  /** Where PostgreSQL's files lie when not in the data folder: another user had to be used. */
  readonly elsewhere: string | undefined;
  readonly logPath: string;
  /** Of the postmaster, which changes when it dies and is started again. */
  readonly pid: number;
  /** Called each time PostgreSQL ended without having been asked to; it is started again in any case. */
  onExit(listener: (reason: string) => void): void;
  /** Stops PostgreSQL and releases the folder; once. `hurry` ends the wait for a clean shutdown. */
  stop(hurry?: AbortSignal): Promise<void>;
}

/**
 * Starts PostgreSQL on a data folder, making it first if there is none, and keeps it running until `stop`. The folder is locked
 * from the first moment to the last; whatever an earlier holder left running there is stopped.
 * @throws EmbeddedError with the remedy; nothing is then left running.
 */
export async function startEmbedded(options: EmbeddedOptions & { readonly tcp: Tcp }): Promise<Embedded & { readonly tcpUrl: string }>;
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded>;
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log, signal, tcp } = options;
  const folder = await openDataFolder(options.dataDir);
  const lock = lockDataFolder(folder);
  const logFile = openLogFile(join(folder, "postgres.log"));
  const letGo = () => {
    logFile.close();
    lock.release();
  };
  try {
    const placement = await choosePlacement(folder);
    const socketDir = await openSocketFolder({ placement, folder });
    const cluster = await initialise(placement, { signal });
    if (placement.home !== folder) await rememberHome(folder, placement.home);
    const tcpPort = tcp === undefined ? undefined : tcp.port || (await findFreePort());
    const everyone = options.superuser === true || tcp !== undefined;
    const chosen = { ...settings({ socketDir, connections: options.connections ?? 100, tcpPort }), ...options.settings };
    const kept = await keepRunning({
      start: async (until) => {
        await clearTheWay({ cluster, socketDir, log });
        await writeAccessRules(placement, cluster, { everyone, tcp: tcp !== undefined });
        return runPostmaster({ placement, cluster, settings: chosen, logFile, signal: until });
      },
      firstTries: 6,
      signal,
      log,
    });
    const over = (role: string) =>
      `postgresql://${role}@localhost:${tcpPort ?? 5432}/${role}?host=${encodeURIComponent(socketDir)}&sslmode=disable`;
    if (tcp !== undefined) await setPasswords(over("postgres"), tcp.password);
    let stopped: Promise<void> | undefined;
    return {
      url: over("beckon"),
      tcpUrl: tcp && `postgresql://postgres:${encodeURIComponent(tcp.password)}@127.0.0.1:${tcpPort}/postgres`,
      socketDir,
      elsewhere: placement.home === folder ? undefined : placement.home,
      logPath: logFile.path,
      get pid() {
        return kept.pid;
      },
      onExit: kept.onExit,
      stop: (hurry) => {
        stopped ??= kept.stop(hurry).then(letGo);
        return stopped;
      },
    };
  } catch (thrown) {
    letGo();
    throw thrown;
  }
}

async function setPasswords(url: string, password: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const role of ["postgres", "beckon"]) await client.query(`alter role ${role} password ${escapeLiteral(password)}`);
  } finally {
    await client.end();
  }
}

/** Another process may take it before PostgreSQL does; good enough for a test. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve, reject) => server.on("listening", resolve).on("error", reject));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return address.port;
}
