import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { elapsed, sleep } from "../../../clock.ts";
import type { Log } from "../../../log.ts";
import { clearSocketFolder } from "../data-folder/index.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { type ProcessInfo, readProcess } from "./read-process.ts";
import { stopProcess } from "./stop-process.ts";

/**
 * Makes the cluster ready to start after a crash: stops a PostgreSQL whose supervisor exited, waits
 * for the child processes of a PostgreSQL that was killed, and removes the lock files. Call this
 * only while holding the lock of the data folder: the lock proves that a PostgreSQL still running
 * there is an orphan. An orphan is stopped and never reused, because it may be another build or
 * have other settings.
 * @throws EmbeddedError if it is not certain that the PostgreSQL whose pid is in `postmaster.pid`
 *   is the orphan.
 */
export async function cleanUpAfterCrash({
  cluster,
  socketDir,
  log,
}: {
  cluster: string;
  socketDir: string;
  log: Log;
}): Promise<void> {
  await stopOrphan(cluster, log);
  await killStragglers(cluster, log);
  // PostgreSQL does not start if another process now has the pid in `postmaster.pid`. The file is
  // stale, because this process holds the lock of the folder.
  await rm(join(cluster, "postmaster.pid"), { force: true });
  await clearSocketFolder(socketDir);
}

/**
 * Tolerance in seconds between the recorded and the observed start time. Both are calculated from
 * times in whole seconds.
 */
const toleranceSeconds = 2;

/**
 * Stops the process whose pid is in `postmaster.pid` if its command line is that of PostgreSQL on
 * this folder. The pid alone is not sufficient, because another process may have it by now.
 * @throws EmbeddedError if the process started later than the file records: then it may be another
 *   PostgreSQL with the same pid.
 */
async function stopOrphan(cluster: string, log: Log): Promise<void> {
  const recorded = await readPostmasterFile(cluster);
  if (recorded === undefined || recorded.pid === process.pid) return;
  const { pid } = recorded;
  const seen = await readProcess(pid);
  if (seen === undefined || !`${seen.command} `.includes(`/bin/postgres -D ${cluster} `)) return;
  if (seen.startedAt > recorded.startedAt + toleranceSeconds) {
    throw new EmbeddedError(
      `Process ${pid} runs PostgreSQL on ${cluster}, but started later than the one that ` +
        `${join(cluster, "postmaster.pid")} records (or the system's clock was set in between). ` +
        `Stop it with kill -INT ${pid} and start again.`,
    );
  }
  log.write("stopping a PostgreSQL that outlived its supervisor", { pid });
  await stopProcess({
    pid,
    alive: async () => isSame(seen, await readProcess(pid)),
    graceMs: 20_000,
  });
}

function isSame(one: ProcessInfo, other: ProcessInfo | undefined): boolean {
  return other !== undefined && one.startedAt === other.startedAt && one.command === other.command;
}

/**
 * Waits for the child processes of a killed postmaster, and kills those that have not exited after
 * half a second. A child process exits when it notices that the postmaster has exited. A child
 * process in a long computation does not notice, and it holds the shared memory that the next start
 * needs. On Linux the child processes are found by their working directory, which is the cluster.
 * On other systems, or where /proc does not show that directory, this function finds none.
 * PostgreSQL then fails to start until they have exited, and `keepRunning` retries the start.
 */
async function killStragglers(cluster: string, log: Log): Promise<void> {
  if (process.platform !== "linux") return;
  const start = elapsed();
  for (;;) {
    const left = await findStragglers(cluster);
    const waited = elapsed() - start;
    if (left.length === 0 || waited > 10_000) return;
    if (waited > 500) {
      log.write("killing the remaining processes of a PostgreSQL that was killed", {
        pids: left.map(String),
      });
      for (const pid of left) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // The process has exited since it was listed.
        }
      }
    }
    await sleep(50);
  }
}

async function findStragglers(cluster: string): Promise<readonly number[]> {
  const folder = await stat(cluster);
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const theirs = await Promise.all(
    pids.map(async (pid) => {
      const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
      if (name.trim() !== "postgres") return false;
      const cwd = await stat(`/proc/${pid}/cwd`).catch(() => undefined);
      return cwd?.ino === folder.ino && cwd.dev === folder.dev;
    }),
  );
  return pids.filter((_, at) => theirs[at]);
}
