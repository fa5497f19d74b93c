import { type ChildProcess, spawn } from "node:child_process";
import { elapsed, sleep } from "../../../clock.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { type Placement, programIn } from "../placement/index.ts";
import { bareEnvironment } from "../run-command.ts";
import type { LogFile } from "./log-file.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { stopProcess } from "./stop-process.ts";

/** A PostgreSQL that accepts connections. It is a child of this process. */
export interface Postmaster {
  readonly pid: number;
  /** Resolves with the reason when PostgreSQL has exited. Never rejects. */
  readonly exited: Promise<string>;
  /**
   * Requests a fast shutdown and resolves after the exit. Requests an immediate shutdown if
   * PostgreSQL has not exited after 60 s or, if `hurry` is aborted, after 3 s. Both times count
   * from the call.
   */
  stop(hurry?: AbortSignal): Promise<void>;
}

/**
 * Maximum time until PostgreSQL accepts connections. Crash recovery replays about `max_wal_size` of
 * WAL, which takes seconds, or minutes on a very slow disk.
 */
const readyWithinMs = 300_000;

/**
 * Starts PostgreSQL and resolves when it accepts connections. PostgreSQL gets its own process
 * group, because Ctrl-C in the terminal must not stop it before the servers have drained. After an
 * error or abort no process is left running.
 * @throws EmbeddedError, with the end of PostgreSQL's log if it was started; the reason of `signal`
 *   if the signal has aborted.
 */
export async function runPostmaster({
  placement,
  cluster,
  settings,
  logFile,
  signal,
}: {
  placement: Placement;
  cluster: string;
  settings: Readonly<Record<string, string>>;
  logFile: LogFile;
  signal?: AbortSignal | undefined;
}): Promise<Postmaster> {
  signal?.throwIfAborted();
  logFile.reopen();
  const logStart = logFile.size();
  const given = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const { file, args, uid, gid } = programIn(placement, "postgres", ["-D", cluster, ...given]);
  const stdio = ["ignore", logFile.descriptor, logFile.descriptor] as const;
  const child = spawn(file, args, {
    ...(uid === undefined ? {} : { uid, gid }),
    cwd: "/",
    env: bareEnvironment,
    detached: true,
    stdio: [...stdio],
  });
  const exited = watchExit(child);
  const { pid } = child;
  if (pid === undefined)
    throw new EmbeddedError(`PostgreSQL could not be started: ${await exited}.`);

  const alive = async () => child.exitCode === null && child.signalCode === null;
  const stop = (hurry?: AbortSignal) => stopProcess({ pid, alive, graceMs: 60_000, hurry });
  const start = elapsed();
  for (;;) {
    if (!(await alive()))
      throw new EmbeddedError(
        `PostgreSQL did not start: ${await exited}.\n${logFile.tail(logStart)}`,
      );
    const file = await readPostmasterFile(cluster);
    if (file?.pid === pid && file.ready) return { pid, exited, stop };
    if (signal?.aborted || elapsed() - start > readyWithinMs) {
      await stop();
      signal?.throwIfAborted();
      throw new EmbeddedError(
        `PostgreSQL was not ready within ${readyWithinMs / 1_000} s.\n${logFile.tail(logStart)}`,
      );
    }
    await sleep(10);
  }
}

function watchExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("exit", (code, signal) =>
      resolve(signal === null ? `exit code ${code}` : `killed by ${signal}`),
    );
  });
}
