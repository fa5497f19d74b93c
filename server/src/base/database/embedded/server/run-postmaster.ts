import { type ChildProcess, spawn } from "node:child_process";
import { elapsed, sleep } from "../../../clock.ts";
import type { Log } from "../../../log.ts";
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
   * PostgreSQL has not exited after 60 s or, if `force` is aborted, after 3 s. Both times count
   * from the call.
   */
  stop(force?: AbortSignal): Promise<void>;
}

/**
 * Starts PostgreSQL and resolves when it accepts connections. PostgreSQL gets its own process
 * group, because Ctrl-C in the terminal must not stop it before the servers have drained. After an
 * error or abort no process is left running.
 *
 * Crash recovery has no time limit: on a slow disk it takes long, and if it were stopped, it would
 * begin at the same position again.
 * @param options `maxSilenceMs`: maximum time without a `postmaster.pid` that says `starting`, by
 *   default 5 minutes. `reportMs`: time between two log lines about a long startup.
 * @throws EmbeddedError, with the end of PostgreSQL's log if it was started; the reason of `signal`
 *   if the signal has aborted.
 */
export async function runPostmaster({
  placement,
  cluster,
  settings,
  logFile,
  signal,
  log,
  maxSilenceMs = 300_000,
  reportMs = 60_000,
}: {
  placement: Placement;
  cluster: string;
  settings: Readonly<Record<string, string>>;
  logFile: LogFile;
  signal?: AbortSignal | undefined;
  log: Log;
  maxSilenceMs?: number;
  reportMs?: number;
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
  const stop = (force?: AbortSignal) => stopProcess({ pid, alive, graceMs: 60_000, force });
  const start = elapsed();
  let silentSince = start;
  let nextReportMs = reportMs;
  for (;;) {
    if (!(await alive()))
      throw new EmbeddedError(
        `PostgreSQL did not start: ${await exited}.\n${logFile.tail(logStart)}`,
      );
    const file = await readPostmasterFile(cluster);
    const status = file?.pid === pid ? file.status : undefined;
    if (status === "ready") return { pid, exited, stop };
    if (status === "starting") silentSince = elapsed();
    if (signal?.aborted || elapsed() - silentSince > maxSilenceMs) {
      await stop();
      signal?.throwIfAborted();
      throw new EmbeddedError(
        `PostgreSQL did not start within ${maxSilenceMs / 1_000} s.\n${logFile.tail(logStart)}`,
      );
    }
    if (elapsed() - start > nextReportMs) {
      nextReportMs += reportMs;
      log.write("PostgreSQL is still starting", {
        duration_ms: Math.round(elapsed() - start),
      });
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
