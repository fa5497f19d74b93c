import { join } from "node:path";
import type { Log } from "../../log.ts";
import {
  findFreePort,
  initialise,
  lockDataFolder,
  openDataFolder,
  openSocketFolder,
  removeTemporary,
  setPasswords,
  settings,
  writeAccessRules,
} from "./data-folder/index.ts";
import { choosePlacement, rememberHome } from "./placement/index.ts";
import {
  clearTheWay,
  type KeptPostmaster,
  keepRunning,
  openLogFile,
  runPostmaster,
} from "./server/index.ts";

/** How the embedded PostgreSQL is started. */
export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** Aborted: the start is given up, nothing is left running. */
  readonly signal?: AbortSignal;
  /** Connections at once, of all servers together. */
  readonly connections?: number;
  /** For tests: settings that replace ours, the durable ones too. */
  readonly settings?: Readonly<Record<string, string>>;
  /** For tests: listens on 127.0.0.1, and lets every role in, the superuser too; over the socket without the password. */
  readonly tcp?: Tcp;
}

interface Tcp {
  /** Absent or 0: a free one. */
  readonly port?: number;
  /** Of the roles `postgres` and `beckon`. */
  readonly password: string;
}

/** A running embedded PostgreSQL. */
export interface Embedded {
  /** For the role `beckon` on its database, over the socket. */
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
  /** Stops PostgreSQL and releases the folder; once. `hurry` cuts the wait for a clean shutdown short. */
  stop(hurry?: AbortSignal): Promise<void>;
}

/**
 * Starts PostgreSQL on a data folder, making it first if there is none, and keeps it running until `stop`. The folder is locked
 * from the first moment to the last; whatever an earlier holder left running there is stopped.
 * @throws EmbeddedError with the remedy; nothing is then left running.
 */
export async function startEmbedded(
  options: EmbeddedOptions & { readonly tcp: Tcp },
): Promise<Embedded & { readonly tcpUrl: string }>;
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
  let kept: KeptPostmaster | undefined;
  try {
    const placement = await choosePlacement(folder);
    const socketDir = await openSocketFolder({ placement, folder });
    const cluster = await initialise(placement, { signal });
    if (placement.home !== folder) await rememberHome(folder, placement.home);
    const tcpPort = tcp === undefined ? undefined : tcp.port || (await findFreePort());
    const chosen = {
      ...settings({ socketDir, connections: options.connections ?? 100, tcpPort }),
      ...options.settings,
    };
    kept = await keepRunning({
      start: async (until) => {
        await clearTheWay({ cluster, socketDir, log });
        await writeAccessRules(placement, cluster, { everyone: tcp !== undefined });
        return runPostmaster({ placement, cluster, settings: chosen, logFile, signal: until });
      },
      firstTries: 6,
      signal,
      log,
    });
    const over = (role: string) =>
      `postgresql://${role}@localhost:${tcpPort ?? 5432}/${role}?host=${encodeURIComponent(socketDir)}&sslmode=disable`;
    if (tcp !== undefined) await setPasswords(over("postgres"), tcp.password);
    const running = kept;
    let stopped: Promise<void> | undefined;
    return {
      url: over("beckon"),
      tcpUrl:
        tcp &&
        `postgresql://postgres:${encodeURIComponent(tcp.password)}@127.0.0.1:${tcpPort}/postgres`,
      socketDir,
      elsewhere: placement.home === folder ? undefined : placement.home,
      logPath: logFile.path,
      get pid() {
        return running.pid;
      },
      onExit: running.onExit,
      stop: (hurry) => {
        stopped ??= running
          .stop(hurry)
          .then(() => removeTemporary(socketDir, folder))
          .finally(letGo);
        return stopped;
      },
    };
  } catch (thrown) {
    await kept?.stop();
    letGo();
    throw thrown;
  }
}
