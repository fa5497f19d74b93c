import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { elapsed, sleep } from "../../../clock.ts";
import type { Log } from "../../../log.ts";
import { clearSocketFolder } from "../data-folder/index.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { readProcess, type SeenProcess } from "./read-process.ts";
import { stopProcess } from "./stop-process.ts";

/**
 * Leaves the cluster free to be started: stops a PostgreSQL that outlived its supervisor, waits for the children of one that was
 * killed, removes the lock files that either left. Only for the holder of the folder's lock, who alone may conclude that whatever
 * still runs there is an orphan. An orphan is stopped and never adopted: it may be of another build or have other settings.
 * @throws EmbeddedError when a process runs there that cannot be told to be PostgreSQL's.
 */
export async function clearTheWay({
  cluster,
  socketDir,
  log,
}: {
  cluster: string;
  socketDir: string;
  log: Log;
}): Promise<void> {
  await stopOrphan(cluster, log);
  await endStragglers(cluster, log);
  // PostgreSQL itself refuses a `postmaster.pid` whose number another process has by now; we know better.
  await rm(join(cluster, "postmaster.pid"), { force: true });
  await clearSocketFolder(socketDir);
}

/** How much later than recorded a process may seem to have started: both clocks count whole seconds. */
const blurSeconds = 2;

/**
 * The orphan is the process of `postmaster.pid` if it was started on this folder and not after the recorded moment: a process
 * that merely got the same number can only be younger. The pid alone decides nothing.
 */
async function stopOrphan(cluster: string, log: Log): Promise<void> {
  const recorded = await readPostmasterFile(cluster);
  if (recorded === undefined || recorded.pid === process.pid) return;
  const { pid } = recorded;
  const seen = await readProcess(pid);
  if (seen === undefined || !`${seen.command} `.includes(`/bin/postgres -D ${cluster} `)) return;
  if (seen.startedAt > recorded.startedAt + blurSeconds) {
    throw new EmbeddedError(
      `Process ${pid} runs PostgreSQL on ${cluster}, but is younger than the one that ${join(cluster, "postmaster.pid")} records (or the system's clock was set in between). Stop it with kill -INT ${pid} and start again.`,
    );
  }
  log.warn({ pid }, "stopping a PostgreSQL that outlived its supervisor");
  await stopProcess({
    pid,
    alive: async () => isSame(seen, await readProcess(pid)),
    graceMs: 20_000,
  });
}

function isSame(one: SeenProcess, other: SeenProcess | undefined): boolean {
  return other !== undefined && one.startedAt === other.startedAt && one.command === other.command;
}

/**
 * After a postmaster was killed its children end by themselves as soon as they look, but one in a long computation does not look,
 * and holds the shared memory that the next start needs. On Linux they are known by their working directory, which is the cluster;
 * elsewhere, or where /proc does not show it, starting is simply tried again until they have gone.
 */
async function endStragglers(cluster: string, log: Log): Promise<void> {
  if (process.platform !== "linux") return;
  const start = elapsed();
  for (;;) {
    const left = await findStragglers(cluster);
    const waited = elapsed() - start;
    if (left.length === 0 || waited > 10_000) return;
    if (waited > 500) {
      log.warn({ pids: left }, "killing what a dead PostgreSQL left behind");
      for (const pid of left) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It has gone.
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
