import { type ChildProcess, fork } from "node:child_process";
import { addAbortListener } from "node:events";
import { totalmem } from "node:os";
import { elapsed, sleep } from "../base/clock.ts";
import { exitCodes } from "../base/exit-codes.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { RestartDelay } from "../base/restart-delay.ts";
import { parseFromServer, type Ready, type Reaped } from "./messages.ts";

/**
 * Room for objects that live no longer than a request, in MiB. At V8's 16 many are promoted before they die, and collecting them then costs
 * a fifth of a server's CPU, and more memory than is saved.
 */
const youngGeneration = 32;

/**
 * By how much of what is alive the old generation may grow before it is collected, in percent. V8 would let it grow fourfold, of which with
 * many waiting callers nine tenths are dead. A hundred takes somewhat less memory and costs such callers time; thirty takes a third more CPU.
 */
const oldGenerationGrowth = 125;

/**
 * Threads that help the collector and the compiler. Node's four take the cores from the server and the database that they should help: with
 * 1,000 waiting callers on two cores one gives 3 % more answers a second, and on 64 connections a p99 that is a fifth lower.
 */
const helpers = 1;

export const serverFlags: readonly string[] = [
  // SIGUSR1 would open a debugger on a local port, without a credential.
  "--disable-sigusr1",
  `--max-semi-space-size=${youngGeneration}`,
  // A flag of V8's own, which other versions may not know: they would refuse to start.
  ...(process.versions.node.startsWith("24.")
    ? [`--heap-growing-percent=${oldGenerationGrowth}`]
    : []),
  `--v8-pool-size=${helpers}`,
];

/**
 * MiB of heap of one server: V8's own limit on a large machine, and what a server needs to be of
 * use on a small one.
 */
const maxHeapMib = 4_096;
const minHeapMib = 256;

/**
 * The flag that limits a server's heap: all servers together get half of the memory, since
 * PostgreSQL, the page cache and what is held outside of the heap need the rest. V8 would allow
 * each of them as much as if it were alone. Empty if the operator set a limit in NODE_OPTIONS, over
 * which ours would take precedence.
 *
 * @param memoryBytes of the machine or, if that is less, of the container.
 */
export function heapFlags(
  servers: number,
  nodeOptions: string,
  memoryBytes = availableBytes(),
): readonly string[] {
  if (/--max[-_]old[-_]space[-_]size/.test(nodeOptions)) return [];
  const share = Math.floor(memoryBytes / 2 / servers / 1024 / 1024);
  return [`--max-old-space-size=${Math.min(maxHeapMib, Math.max(minHeapMib, share))}`];
}

function availableBytes(): number {
  // 0 without a limit, in some versions a number beyond all memory.
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/**
 * Node looks names up in threads, and lets half of them do so: of its usual four, two names that nobody answers for would hold up every other
 * look-up, model calls included. A thread that waits costs next to nothing.
 */
const threads = "32";

/** Servers of one start that end before any was ready; then it is given up, since the next one would end the same way. */
const maxFailedStarts = 3;
/** Where a server inherits the claimed port: after stdin, stdout, stderr and the channel. */
const portFd = 4;

/**
 * Keeps `count` servers running until `stop` aborts, one refuses its configuration, or none becomes ready; then lets all of them
 * drain, and resolves with the exit code when the last has ended.
 *
 * None becomes ready: `maxFailedStarts` of them ended, or the database cannot be reached for `databaseWaitMs`. A server that ends
 * after one was ready is started again for as long as it takes.
 *
 * Each server gets an id (`--process=`). When one ends, those that live are told, and its successor is told at its start
 * (`--reaped=`), so that its runs are taken over at once instead of after their lease. Until a server of this start was ready, the
 * word is `all` if `aloneOnDatabase`: whatever was registered before is dead. The others start only after that, since
 * they would be among it.
 */
export async function keepServers({
  entry,
  count,
  env,
  aloneOnDatabase,
  portFd: claimed,
  databaseWaitMs,
  drainMs,
  stop,
  hurry,
  log,
  onReady,
  onFailure,
}: {
  entry: string;
  count: number;
  env: Readonly<Record<string, string | undefined>>;
  aloneOnDatabase: boolean;
  /** The socket that all servers listen on; undefined: the only one opens its own. */
  portFd: number | undefined;
  databaseWaitMs: number;
  /** From the request to stop to SIGKILL. */
  drainMs: number;
  stop: AbortSignal;
  /** Aborted: SIGKILL now. */
  hurry: AbortSignal;
  log: Log;
  /** Each time a server has become ready. */
  onReady: (ready: Ready) => void;
  /** Once, with the reason, when it gives up because no server became ready. */
  onFailure: (reason: string) => void;
}): Promise<number> {
  const living = new Set<ChildProcess>();
  const untold = new Set<string>();
  const gaveUp = new AbortController();
  const ending = AbortSignal.any([stop, gaveUp.signal]);
  const firstReady = Promise.withResolvers<void>();
  const startedAt = elapsed();
  let anyReady = false;
  let failedStarts = 0;
  let exitCode = 0;

  function start(id: string): ChildProcess {
    const told = [...untold];
    const reaped = aloneOnDatabase && !anyReady ? "all" : told.join(",");
    // Made by the one whose word is passed on to the person at the terminal: another would make that one void.
    const setup = anyReady ? [] : ["--setup"];
    const listen = claimed === undefined ? [] : [`--listen-fd=${portFd}`];
    const args = [
      `--process=${id}`,
      ...listen,
      ...(reaped === "" ? [] : [`--reaped=${reaped}`]),
      ...setup,
    ];
    // A process group of its own: Ctrl-C in the terminal reaches the supervisor alone, which stops things in order.
    const child = fork(entry, args, {
      env: { UV_THREADPOOL_SIZE: threads, ...env },
      detached: true,
      stdio: ["ignore", "inherit", "inherit", "ipc", ...(claimed === undefined ? [] : [claimed])],
      execArgv: [
        ...heapFlags(count, `${env.NODE_OPTIONS} ${process.execArgv.join(" ")}`),
        ...process.execArgv,
        ...serverFlags,
      ],
    });
    living.add(child);
    child.on("error", (error) =>
      log.error({ process: id, reason: error.message }, "channel to a server failed"),
    );
    child.on("message", (message) => {
      const ready = parseFromServer(message);
      if (ready === undefined) return;
      for (const one of told) untold.delete(one);
      anyReady = true;
      firstReady.resolve();
      onReady(ready);
    });
    return child;
  }

  /** Resolves when the server has ended; asks it to, once `ending` aborts. */
  async function watch(child: ChildProcess): Promise<void> {
    let deadline: NodeJS.Timeout | undefined;
    const kill = () => signalGroup(child, "SIGKILL");
    const drain = () => {
      child.kill("SIGTERM");
      deadline = setTimeout(kill, drainMs);
    };
    const exited = new Promise<void>((resolve) => {
      child.on("exit", () => resolve());
      // Also emitted for a signal or a message that failed; only without a pid was there never a process.
      child.on("error", () => child.pid === undefined && resolve());
    });
    const listeners = [addAbortListener(ending, drain), addAbortListener(hurry, kill)];
    await exited;
    for (const listener of listeners) listener[Symbol.dispose]();
    clearTimeout(deadline);
    living.delete(child);
    // What it had started itself does not outlive it.
    kill();
  }

  function tellOthers(id: string): void {
    untold.add(id);
    const message: Reaped = { type: "reaped", process_ids: [id] };
    for (const child of living) if (child.connected) child.send(message, () => {});
  }

  /** Gives up if starting another server does not help. */
  function judgeEnd({ exitCode: code, signalCode }: ChildProcess): void {
    if (code === exitCodes.invalidConfiguration) {
      giveUp(code);
    } else if (anyReady) {
      return;
    } else if (code !== exitCodes.databaseUnreachable) {
      failedStarts++;
      if (failedStarts < maxFailedStarts) return;
      const how = signalCode ?? `exit code ${code}`;
      giveUp(
        code,
        `The server ended ${failedStarts} times before it was ready (${how}). Its last words above say why.`,
      );
    } else if (elapsed() - startedAt > databaseWaitMs) {
      giveUp(
        code,
        `The database could not be reached for ${databaseWaitMs / 1_000} s. Check DATABASE_URL and the database, then start again.`,
      );
    }
  }

  function giveUp(code: number | null, reason?: string): void {
    if (reason !== undefined) onFailure(reason);
    exitCode = code || 1;
    gaveUp.abort();
  }

  async function keepOne(): Promise<void> {
    const delay = new RestartDelay({ minMs: 1_000, maxMs: 10_000 });
    while (!ending.aborted) {
      const id = newId("prc");
      const began = elapsed();
      const child = start(id);
      await watch(child);
      if (!ending.aborted) judgeEnd(child);
      if (ending.aborted) return;
      tellOthers(id);
      const waitMs = delay.after(elapsed() - began);
      log.error(
        { process: id, code: child.exitCode, signal: child.signalCode, wait_ms: waitMs },
        "server ended, starting another",
      );
      await sleep(waitMs, ending).catch(() => {});
    }
  }

  addAbortListener(ending, () => firstReady.resolve());
  const others = firstReady.promise.then(() =>
    Promise.all(Array.from({ length: count - 1 }, keepOne)),
  );
  await Promise.all([keepOne(), others]);
  return exitCode;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nobody is left in it.
  }
}
