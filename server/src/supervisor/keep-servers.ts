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
 * MiB of the young generation: objects that live no longer than a request. With V8's 16, many are
 * promoted before they are garbage; collecting them later costs a fifth of a server's CPU.
 */
const youngGenerationMib = 32;

/**
 * Percentage by which the old generation grows before it is collected. V8's fourfold is nine tenths
 * garbage with many waiting callers; 30 costs a third more CPU, 100 costs such callers time.
 */
const oldGenerationGrowthPercent = 125;

/**
 * Threads of V8's collector and compiler. Its four take the cores from the server and the database:
 * on two cores, one thread gives 3 % more responses and a fifth less p99 latency.
 */
const v8Threads = 1;

export const serverFlags: readonly string[] = [
  // SIGUSR1 would open a debugger on a local port, without a credential.
  "--disable-sigusr1",
  `--max-semi-space-size=${youngGenerationMib}`,
  // A flag of V8: a version that does not know it would not start.
  ...(process.versions.node.startsWith("24.")
    ? [`--heap-growing-percent=${oldGenerationGrowthPercent}`]
    : []),
  `--v8-pool-size=${v8Threads}`,
];

/** Heap limits of one server: V8's own limit on a large machine, and the smallest useful one. */
const maxHeapMib = 4_096;
const minHeapMib = 256;

/**
 * Returns the flag that limits a server's heap: all servers together get half of the memory, since
 * PostgreSQL, the page cache and buffers outside of the heap need the rest. V8 would size each of
 * them as if it were alone. Empty if NODE_OPTIONS has a limit, which a flag would override.
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
 * Threads for DNS and files. Node lets half of them resolve names: of its default four, two names
 * whose servers do not respond would block all other lookups, model calls included.
 */
const uvThreads = "32";

/** Maximum exits of servers before one was ready. */
const maxFailedStarts = 3;
/** Descriptor of the claimed port in a server: after stdin, stdout, stderr and the channel. */
const portFd = 4;
/** Maximum milliseconds to wait for servers to report how many runs they execute. */
const maxDrainReportMs = 1_000;

export interface ServersOptions {
  /** Module that each server runs. */
  readonly entry: string;
  readonly count: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether no other supervisor uses the database, so that all earlier processes have exited. */
  readonly aloneOnDatabase: boolean;
  /** Socket that all servers listen on; undefined: the only server opens its own. */
  readonly portFd: number | undefined;
  /** Milliseconds that startup waits for a database that cannot be reached. */
  readonly databaseWaitMs: number;
  /** Milliseconds from SIGTERM to SIGKILL. */
  readonly drainMs: number;
  readonly stop: AbortSignal;
  /** Kills the servers with SIGKILL when it aborts. */
  readonly hurry: AbortSignal;
  readonly log: Log;
  /** Called each time a server becomes ready. */
  readonly onReady: (ready: Ready) => void;
  /** Called once for each reason why the database cannot be reached yet. */
  readonly onWaiting: (reason: string) => void;
  /** Called once, when it gives up. */
  readonly onFailure: (reason: string) => void;
  /** Called at most once, with the number of runs (above 0) that stopping servers execute. */
  readonly onDraining: (runs: number) => void;
}

/**
 * Keeps `count` servers running until `stop` aborts or it gives up. Then all servers drain; it
 * resolves with the exit code when the last one has exited.
 *
 * It gives up if a server has an invalid configuration. Before any server was ready, it also gives
 * up if PostgreSQL rejects the connection, if `maxFailedStarts` servers exit, or if the database
 * cannot be reached for `databaseWaitMs`. Later, exited servers are replaced without a limit.
 *
 * Each server has an id (`--process=`). When one exits, the running ones get a message and its
 * successor an argument (`--reaped=`), so that they resume its runs at once instead of after its
 * lease. Until a server was ready, the argument is `all` if `aloneOnDatabase`: all processes that
 * were registered before have exited. The other servers start later, since `all` would include
 * them.
 */
export async function keepServers(options: ServersOptions): Promise<number> {
  const {
    count,
    env,
    aloneOnDatabase,
    portFd: claimed,
    databaseWaitMs,
    stop,
    hurry,
    log,
  } = options;
  const running = new Set<ChildProcess>();
  /** Ids of exited servers whose exit may not be recorded in the database yet. */
  const unrecorded = new Set<string>();
  /** Reasons that servers reported when they could not start. */
  const failures = new WeakMap<ChildProcess, string>();
  const gaveUp = new AbortController();
  const ending = AbortSignal.any([stop, gaveUp.signal]);
  const firstReady = Promise.withResolvers<void>();
  const drainReport = collectDrainReports(running, options.onDraining);
  const startedAt = elapsed();
  let waitingFor: string | undefined;
  let anyReady = false;
  let failedStarts = 0;
  let exitCode = 0;

  function start(id: string): ChildProcess {
    const deaths = [...unrecorded];
    const reaped = aloneOnDatabase && !anyReady ? "all" : deaths.join(",");
    const args = [
      `--process=${id}`,
      ...(claimed === undefined ? [] : [`--listen-fd=${portFd}`]),
      ...(reaped === "" ? [] : [`--reaped=${reaped}`]),
      // Only the server whose message is printed: another setup token would revoke the printed one.
      ...(anyReady ? [] : ["--setup"]),
    ];
    // Its own process group: Ctrl-C reaches the supervisor alone, which stops everything in order.
    const child = fork(options.entry, args, {
      env: { UV_THREADPOOL_SIZE: uvThreads, ...env },
      detached: true,
      stdio: ["ignore", "inherit", "inherit", "ipc", ...(claimed === undefined ? [] : [claimed])],
      execArgv: [
        ...heapFlags(count, `${env.NODE_OPTIONS} ${process.execArgv.join(" ")}`),
        ...process.execArgv,
        ...serverFlags,
      ],
    });
    running.add(child);
    child.on("error", (error) =>
      log.error({ process: id, reason: error.message }, "channel to a server failed"),
    );
    child.on("message", (received) => {
      const message = parseFromServer(received);
      if (message?.type === "failed") failures.set(child, message.reason);
      if (message?.type === "draining") drainReport.add(child, message.runs);
      if (message?.type !== "ready") return;
      for (const death of deaths) unrecorded.delete(death);
      anyReady = true;
      firstReady.resolve();
      options.onReady(message);
    });
    return child;
  }

  /** Resolves when the server has exited. Asks it to drain when `ending` aborts. */
  async function waitForExit(child: ChildProcess): Promise<void> {
    let deadline: NodeJS.Timeout | undefined;
    const kill = () => signalGroup(child, "SIGKILL");
    const drain = () => {
      child.kill("SIGTERM");
      deadline = setTimeout(kill, options.drainMs);
    };
    const exited = new Promise<void>((resolve) => {
      child.on("exit", () => resolve());
      // Also emitted for a signal or message that failed. Without a pid no process was started.
      child.on("error", () => child.pid === undefined && resolve());
    });
    const listeners = [addAbortListener(ending, drain), addAbortListener(hurry, kill)];
    await exited;
    for (const listener of listeners) listener[Symbol.dispose]();
    clearTimeout(deadline);
    running.delete(child);
    drainReport.check();
    // Its own child processes do not outlive it.
    kill();
  }

  function reportDeath(id: string): void {
    unrecorded.add(id);
    const message: Reaped = { type: "reaped", process_ids: [id] };
    for (const child of running) if (child.connected) child.send(message, () => {});
  }

  /** Gives up if starting another server does not help. */
  function checkExit(child: ChildProcess): void {
    const { exitCode: code, signalCode } = child;
    const reason = failures.get(child);
    const exit = signalCode ?? `code ${code}`;
    const how = `The server exited with ${exit}; its output above says why.`;
    if (code === exitCodes.invalidConfiguration) {
      giveUp(code, reason ?? how);
    } else if (anyReady) {
      return;
    } else if (code === exitCodes.databaseRejected) {
      giveUp(code, reason ?? how);
    } else if (code !== exitCodes.databaseUnreachable) {
      failedStarts++;
      if (failedStarts === maxFailedStarts)
        giveUp(code, `${failedStarts} servers exited before one was ready. ${reason ?? how}`);
    } else if (elapsed() - startedAt > databaseWaitMs) {
      const waited = `The database could not be reached for ${databaseWaitMs / 1_000} s.`;
      giveUp(code, `${waited} ${reason ?? "Check DATABASE_URL and the database."}`);
    } else if (reason !== undefined && reason !== waitingFor) {
      waitingFor = reason;
      options.onWaiting(reason);
    }
  }

  function giveUp(code: number | null, reason: string): void {
    options.onFailure(reason);
    exitCode = code || 1;
    gaveUp.abort();
  }

  async function keepOne(): Promise<void> {
    const delay = new RestartDelay({ minMs: 1_000, maxMs: 10_000 });
    while (!ending.aborted) {
      const id = newId("prc");
      const startedServerAt = elapsed();
      const child = start(id);
      await waitForExit(child);
      if (!ending.aborted) checkExit(child);
      if (ending.aborted) return;
      reportDeath(id);
      const waitMs = delay.after(elapsed() - startedServerAt);
      logRestart(child, { process: id, wait_ms: waitMs });
      await sleep(waitMs, ending).catch(() => {});
    }
  }

  function logRestart(child: ChildProcess, fields: object): void {
    const { exitCode: code, signalCode: signal } = child;
    const line = { ...fields, code, signal, reason: failures.get(child) };
    // While startup waits for the database, onWaiting has reported the reason.
    const level = !anyReady && code === exitCodes.databaseUnreachable ? "debug" : "error";
    log[level](line, "server exited, starting another");
  }

  addAbortListener(ending, () => firstReady.resolve());
  const others = firstReady.promise.then(() =>
    Promise.all(Array.from({ length: count - 1 }, keepOne)),
  );
  await Promise.all([keepOne(), others]);
  return exitCode;
}

/**
 * Adds up the runs of servers that drain, and calls `onDraining` once if there are any: when all
 * `running` servers have reported, or `maxDrainReportMs` after the first.
 */
function collectDrainReports(
  running: ReadonlySet<ChildProcess>,
  onDraining: (runs: number) => void,
): { add(child: ChildProcess, runs: number): void; check(): void } {
  const reports = new Map<ChildProcess, number>();
  let timer: NodeJS.Timeout | undefined;
  let isDone = false;
  const finish = () => {
    clearTimeout(timer);
    if (isDone) return;
    isDone = true;
    const runs = [...reports.values()].reduce((sum, each) => sum + each, 0);
    if (runs > 0) onDraining(runs);
  };
  const check = () => {
    if (reports.size > 0 && [...running].every((child) => reports.has(child))) finish();
  };
  return {
    add: (child, runs) => {
      reports.set(child, runs);
      timer ??= setTimeout(finish, maxDrainReportMs).unref();
      check();
    },
    check,
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has no process left.
  }
}
