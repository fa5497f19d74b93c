import { statfsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import type { Log } from "../../log.ts";
import {
  denyOtherUsers,
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
import { isDiskFull } from "./disk-full.ts";
import { EmbeddedError } from "./embedded-error.ts";
import { choosePlacement, recordHome } from "./placement/index.ts";
import {
  cleanUpAfterCrash,
  keepRunning,
  openLogFile,
  runPostmaster,
  type SupervisedPostmaster,
} from "./server/index.ts";

/** Options of `startEmbedded`. */
export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** Aborting it cancels the startup and leaves no process running. Default: not cancelled. */
  readonly signal?: AbortSignal;
  /** PostgreSQL's `max_connections`, which all server processes share. Default 100. */
  readonly connections?: number;
  /** For tests: settings that override ours, including those for durability. Default: none. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * For tests: PostgreSQL also listens on 127.0.0.1 and accepts every role, including the
   * superuser. With this option, connections over the socket need no password for any role.
   * Default: only the socket.
   */
  readonly tcp?: Tcp;
}

interface Tcp {
  /** A free port is used if this is undefined or 0. */
  readonly port?: number;
  /** Password of the roles `postgres` and `beckon`. */
  readonly password: string;
}

/** A running embedded PostgreSQL. */
export interface Embedded {
  /** Connects as role `beckon` to the database `beckon` over the socket. */
  readonly url: string;
  /** Connects as the superuser to the database `postgres` over TCP; undefined without `tcp`. */
  readonly tcpUrl: string | undefined;
  readonly socketDir: string;
  /**
   * Folder of PostgreSQL's files if PostgreSQL runs as another user; undefined if the files are in
   * the data folder.
   */
  readonly elsewhere: string | undefined;
  readonly logPath: string;
  /** Pid of the postmaster. It changes when PostgreSQL is restarted. */
  readonly pid: number;
  /** Calls `listener` each time PostgreSQL exits without `stop`. PostgreSQL is then restarted. */
  onExit(listener: (reason: string) => void): void;
  /**
   * Stops PostgreSQL and releases the folder. A clean shutdown gets 60 s, or only 3 s if `force` is
   * aborted. Further calls return the promise of the first call.
   */
  stop(force?: AbortSignal): Promise<void>;
}

/**
 * Starts PostgreSQL on a data folder, creating the cluster if there is none, and restarts
 * PostgreSQL after each exit until `stop`. The folder stays locked until then. A PostgreSQL that an
 * earlier process left running on the folder is stopped.
 * @throws EmbeddedError if PostgreSQL cannot start, ConfigError if its files would be lost with the
 *   container. No process is left running.
 */
export async function startEmbedded(
  options: EmbeddedOptions & { readonly tcp: Tcp },
): Promise<Embedded & { readonly tcpUrl: string }>;
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded>;
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log, signal, tcp } = options;
  const folder = await openDataFolder(options.dataDir);
  const opened = new DisposableStack();
  let supervised: SupervisedPostmaster | undefined;
  try {
    const lock = lockDataFolder(folder);
    opened.defer(() => lock.release());
    const logFile = openLogFile(join(folder, "postgres.log"));
    opened.defer(() => logFile.close());
    const placement = await choosePlacement(folder);
    const socketDir = await openSocketFolder({ placement, folder });
    const cluster = await initialise(placement, { signal });
    if (placement.home !== folder) await recordHome(folder, placement.home);
    const tcpPort = tcp === undefined ? undefined : tcp.port || (await findFreePort());
    const { blocks, bsize } = statfsSync(placement.home);
    const diskBytes = blocks * bsize;
    const chosen = {
      ...settings({ socketDir, connections: options.connections ?? 100, tcpPort, diskBytes }),
      ...options.settings,
    };
    supervised = await keepRunning({
      start: async (until) => {
        await cleanUpAfterCrash({ cluster, socketDir, log });
        await denyOtherUsers(cluster);
        await writeAccessRules(placement, cluster, { everyone: tcp !== undefined });
        return runPostmaster({ placement, cluster, settings: chosen, logFile, signal: until, log });
      },
      maxFirstAttempts: 6,
      signal,
      log,
    });
    const over = (role: string) =>
      `postgresql://${role}@localhost:${tcpPort ?? 5432}/${role}?host=${encodeURIComponent(socketDir)}&sslmode=disable`;
    if (tcp !== undefined) await setPasswords(over("postgres"), tcp.password);
    const running = supervised;
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
      stop: (force) => {
        stopped ??= running
          .stop(force)
          .then(() => removeTemporary(socketDir, folder))
          .finally(() => opened.dispose());
        return stopped;
      },
    };
  } catch (thrown) {
    await supervised?.stop();
    opened.dispose();
    if (!isDiskFull(thrown)) throw thrown;
    throw new EmbeddedError(
      `The data folder ${folder} cannot be opened: the disk is full (${messageOf(thrown)}). Free ` +
        "some space and start again.",
      { cause: thrown },
    );
  }
}
