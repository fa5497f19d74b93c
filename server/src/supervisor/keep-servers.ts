import { type ChildProcess, fork } from "node:child_process";
import { addAbortListener } from "node:events";
import { elapsed, pause } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { exitCodes } from "../base/exit-codes.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { availableMemoryBytes, minHeapMib } from "../base/machine/index.ts";
import { RestartDelay } from "../base/restart-delay.ts";
import { type Exited, parseFromServer, type Ready } from "./messages.ts";
import type { MetricsCollector } from "./metrics-collector.ts";
import { enablesDebugger, type ServerWatch, watchServer } from "./watch-server.ts";

/**
 * Size in MiB of a semi-space of V8's young generation. With V8's default of 16, many objects that
 * live only as long as a request move to the old generation before they are garbage. Collecting
 * them there costs a fifth of a server's CPU.
 */
const youngGenerationMib = 32;

/**
 * Percentage by which V8's old generation grows before it is collected. By default it grows up to
 * fourfold; with many waiting callers, nine tenths of it are then garbage. Smaller percentages have
 * a cost: 30 needs a third more CPU, and 100 delays the responses to many waiting callers.
 */
const oldGenerationGrowthPercent = 125;

/**
 * Threads of V8's garbage collector and compiler. V8's default of four threads would compete with
 * the server and the database for the cores. On two cores, one thread instead of four gives 3 %
 * more responses per second and a p99 latency that is a fifth lower.
 */
const v8Threads = 1;

export const serverFlags: readonly string[] = [
  // Without this flag, SIGUSR1 opens a debugger on a local port that requires no credential.
  "--disable-sigusr1",
  `--max-semi-space-size=${youngGenerationMib}`,
  // This flag is known to work with Node.js 24 and 26. A version whose V8 lacks the flag would not
  // start.
  ...(/^2[46]\./.test(process.versions.node)
    ? [`--heap-growing-percent=${oldGenerationGrowthPercent}`]
    : []),
  `--v8-pool-size=${v8Threads}`,
];

/**
 * Returns the flags of Node.js with which each server is started.
 * @param nodeOptions the value of NODE_OPTIONS
 */
export function serverExecArgv(servers: number, nodeOptions: string | undefined): string[] {
  return [
    ...heapFlags(servers, `${nodeOptions} ${process.execArgv.join(" ")}`),
    ...process.execArgv,
    ...serverFlags,
  ];
}

/** Maximum heap limit of one server: V8's own limit on a large machine. */
const maxHeapMib = 4_096;

/**
 * Returns the flag that limits a server's heap. All servers together get half of the memory,
 * because PostgreSQL, the page cache and buffers outside of the heap need the rest. Without the
 * flag, V8 would size each heap as if its server were the only one. Returns no flag if
 * `nodeOptions` contains a limit, because the flag would override it.
 *
 * @param nodeOptions NODE_OPTIONS and the flags with which Node.js started the supervisor.
 * @param memoryBytes Memory of the machine or, if smaller, the memory limit of the container.
 */
export function heapFlags(
  servers: number,
  nodeOptions: string,
  memoryBytes = availableMemoryBytes(),
): readonly string[] {
  if (/--max[-_]old[-_]space[-_]size/.test(nodeOptions)) return [];
  const share = Math.floor(memoryBytes / 2 / servers / 1024 / 1024);
  return [`--max-old-space-size=${Math.min(maxHeapMib, Math.max(minHeapMib, share))}`];
}

/**
 * Threads of a server for DNS lookups and files. Node.js uses at most half of them for DNS lookups:
 * with the default of four threads, two names whose DNS servers do not respond would block all
 * other lookups, including those for model calls.
 */
const uvThreads = "32";

/**
 * Number of server exits, before any server was ready, at which `keepServers` gives up. Exits
 * because the database cannot be reached do not count, and neither do crashes of servers that have
 * begun to execute runs: a run can cause them, and fails after its last attempt.
 */
const maxFailedStarts = 3;
/**
 * A server that ran for longer, in milliseconds, had reached the database, even if it lost the
 * connection later, for example during a long migration. Attempts to connect end earlier.
 */
const maxConnectMs = 60_000;
/**
 * Exit codes of a server that end startup at once. Startup does not wait for an address: usually
 * HOST is wrong, and systemd starts Beckon again if the address comes up later.
 */
const finalCodes: readonly (number | null)[] = [
  exitCodes.addressUnavailable,
  exitCodes.databaseRejected,
  exitCodes.invalidConfiguration,
];
/**
 * File descriptor of the claimed port in a server. Descriptors 0 to 3 are stdin, stdout, stderr and
 * the channel to the supervisor.
 */
const listenFd = 4;
/**
 * Maximum ids of exited servers that are passed to a new server. They are passed in one argument,
 * which Linux limits to 128 KiB. Without a maximum, the ids of servers that repeatedly fail to
 * start would exceed this size within hours. If the id of an exited server is not passed, its runs
 * are resumed when its lease expires.
 */
const maxUnrecorded = 1_000;
/** Maximum milliseconds to wait for servers to report how many runs they execute. */
const maxDrainReportMs = 3_000;

export interface ServersOptions {
  /** Module that each server runs. */
  readonly entry: string;
  readonly count: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Whether no other supervisor uses the database. If so, all server processes of earlier startups
   * have exited.
   */
  readonly aloneOnDatabase: boolean;
  /** Path of the log of the PostgreSQL inside; undefined for an external PostgreSQL. */
  readonly postgresLogPath: string | undefined;
  /**
   * File descriptor of the socket on which all servers listen; undefined if there is only one
   * server, which opens its own socket.
   */
  readonly portFd: number | undefined;
  /**
   * Milliseconds that startup waits for a database that cannot be reached. They begin anew after a
   * server that had reached it.
   */
  readonly databaseWaitMs: number;
  /**
   * Milliseconds after which a server that is ready or executes runs, and does not reply to pings,
   * gets SIGKILL.
   */
  readonly maxSilentMs: number;
  /** Milliseconds that a server has to exit after SIGTERM before it gets SIGKILL. */
  readonly drainMs: number;
  readonly stop: AbortSignal;
  /** Kills the servers with SIGKILL when it aborts. */
  readonly kill: AbortSignal;
  readonly log: Log;
  /** Collects the metrics of the servers; undefined if no port for metrics is set. */
  readonly collector: MetricsCollector | undefined;
  /** Called each time a server becomes ready. */
  readonly onReady: (ready: Ready) => void;
  /**
   * Called when the database cannot be reached yet, and again when the reason changes. `maxWaitMs`
   * is what is left of `databaseWaitMs`.
   */
  readonly onWaiting: (reason: string, maxWaitMs: number) => void;
  /** Called once, when `keepServers` gives up. */
  readonly onFailure: (reason: string) => void;
  /** Called at most once, with the number of runs (above 0) that stopping servers execute. */
  readonly onDraining: (runs: number) => void;
}

/**
 * Keeps `count` servers running until `stop` aborts or this function gives up. Then all servers
 * drain: they take no new work and finish their runs. When the last server has exited, resolves
 * with the exit code.
 *
 * The function gives up only before the first server is ready: if a server has an invalid
 * configuration, if PostgreSQL rejects the connection, if the database cannot be reached for
 * `databaseWaitMs`, or if `maxFailedStarts` startups fail for other reasons. Later, exited servers
 * are replaced without a limit.
 *
 * Each server gets its id in the argument `--process=`. A server that was declared dead continues
 * under a new id, which it sends in the message `registered`. When a server exits, its last id is
 * sent to the running servers in a message, and to its replacement in the argument `--exited=`.
 * These servers then resume the runs of the exited server at once, before its lease expires.
 *
 * `postgresLogPath` is passed in the argument `--postgres-log=`. Servers that cannot start because
 * of the database name it in the reason.
 *
 * A server whose event loop is blocked for `maxSilentMs` is killed, and so replaced, if it was
 * ready or executed runs. This does not apply to servers with a debugger, which stop at
 * breakpoints.
 *
 * If `aloneOnDatabase`, the argument is `--exited=all` until the first server is ready, because all
 * processes that are registered in the database have exited. The other servers start only once the
 * first is ready: otherwise `all` would declare that they have exited too.
 */
export async function keepServers(options: ServersOptions): Promise<number> {
  const { count, env, aloneOnDatabase, postgresLogPath, portFd } = options;
  const { databaseWaitMs, maxSilentMs, stop, log } = options;
  const isDebugged = enablesDebugger(serverExecArgv(count, env.NODE_OPTIONS), env.NODE_OPTIONS);
  const running = new Set<ChildProcess>();
  /** Ids of exited servers whose exit is possibly not recorded in the database yet. */
  const unrecorded = new Set<string>();
  /** New ids of servers that were declared dead and continue. */
  const newIds = new WeakMap<ChildProcess, string>();
  /** Servers that have begun to execute runs. */
  const executing = new WeakSet<ChildProcess>();
  /** Reasons that servers reported when they could not start. */
  const failures = new WeakMap<ChildProcess, string>();
  const gaveUp = new AbortController();
  const ending = AbortSignal.any([stop, gaveUp.signal]);
  const firstReady = Promise.withResolvers<void>();
  const drainReport = collectDrainReports(running, options.onDraining);
  /** When the first of the last servers, which could not reach the database, exited. */
  let unreachableSince: number | undefined;
  let waitingFor: string | undefined;
  let anyReady = false;
  let failedStarts = 0;
  let exitCode = 0;

  function start(id: string): ChildProcess {
    const exitedIds = [...unrecorded];
    const exited = aloneOnDatabase && !anyReady ? "all" : exitedIds.join(",");
    const args = [
      `--process=${id}`,
      ...(portFd === undefined ? [] : [`--listen-fd=${listenFd}`]),
      ...(postgresLogPath === undefined ? [] : [`--postgres-log=${postgresLogPath}`]),
      ...(exited === "" ? [] : [`--exited=${exited}`]),
      // `--setup` is passed only until a server is ready, because only the first `ready` message is
      // printed. Later servers with `--setup` would issue setup tokens that nobody sees, and only
      // the last ten are valid.
      ...(anyReady ? [] : ["--setup"]),
    ];
    // `detached` creates a process group for the server, so that Ctrl-C only reaches the
    // supervisor, which stops the processes in order.
    const child = fork(options.entry, args, {
      env: { UV_THREADPOOL_SIZE: uvThreads, ...env },
      detached: true,
      stdio: ["ignore", "inherit", "inherit", "ipc", ...(portFd === undefined ? [] : [portFd])],
      execArgv: serverExecArgv(count, env.NODE_OPTIONS),
    });
    running.add(child);
    let watch: ServerWatch | undefined;
    // Not called earlier: a start can wait for the database, and load its code slowly.
    const startWatch = () => {
      if (!isDebugged)
        watch ??= watchServer(child, { maxSilentMs, onHang: () => onHang(child, id) });
    };
    child.once("exit", () => watch?.stop());
    child.on("error", (error) =>
      log.write("channel to a server failed", { process_id: id, reason: error.message }),
    );
    child.on("message", (received) => {
      const message = parseFromServer(received);
      switch (message?.type) {
        case "executing":
          executing.add(child);
          startWatch();
          break;
        case "ready":
          startWatch();
          for (const exitedId of exitedIds) unrecorded.delete(exitedId);
          options.collector?.ready(child);
          anyReady = true;
          firstReady.resolve();
          options.onReady(message);
          break;
        case "failed":
          failures.set(child, message.reason);
          break;
        case "draining":
          drainReport.add(child, message.runs);
          break;
        case "registered":
          newIds.set(child, message.process_id);
          break;
        case "metrics":
          options.collector?.received(child, message.id, message.metrics);
          break;
        case "pong":
          watch?.replied();
          break;
      }
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
      // `error` is also emitted if a signal or message could not be sent. If the child has no pid,
      // no process was started, and there will be no `exit`.
      child.on("error", () => child.pid === undefined && resolve());
    });
    const listeners = [addAbortListener(ending, drain), addAbortListener(options.kill, kill)];
    await exited;
    for (const listener of listeners) listener[Symbol.dispose]();
    clearTimeout(deadline);
    running.delete(child);
    options.collector?.exited(child, ending.aborted);
    drainReport.check();
    // Kills the server's process group, so that child processes of the server do not outlive it.
    kill();
  }

  /** Kills a server that does not reply. One that was asked to drain is killed after `drainMs`. */
  function onHang(child: ChildProcess, id: string): void {
    if (ending.aborted) return;
    log.write("server does not respond and is killed", {
      process_id: newIds.get(child) ?? id,
      reason: `It has not replied for ${maxSilentMs / 1_000} s. Something blocks its event loop.`,
    });
    signalGroup(child, "SIGKILL");
  }

  function reportExit(id: string): void {
    addRecent(unrecorded, id);
    const message: Exited = { type: "exited", process_ids: [id] };
    for (const child of running) if (child.connected) child.send(message, () => {});
  }

  /**
   * Gives up if the exit of a server that ran for `ranMs` shows that starting another server would
   * not help.
   */
  function checkExit(child: ChildProcess, ranMs: number): void {
    const { exitCode: code, signalCode } = child;
    const reason = failures.get(child);
    const exit = signalCode ?? `code ${code}`;
    const how = `The server exited with ${exit}; its output above says why.`;
    // Never gives up after a server was ready, because that would stop the other servers too. The
    // cause can be temporary, such as a file of prices or a certificate that is being replaced.
    if (anyReady) return;
    if (code !== exitCodes.databaseUnreachable || ranMs > maxConnectMs) {
      unreachableSince = undefined;
      waitingFor = undefined;
    }
    if (finalCodes.includes(code)) {
      giveUp(code, reason ?? how);
    } else if (code !== exitCodes.databaseUnreachable) {
      if (executing.has(child) && reason === undefined) return;
      failedStarts++;
      if (failedStarts === maxFailedStarts)
        giveUp(code, `${failedStarts} servers exited before one was ready. ${reason ?? how}`);
    } else {
      unreachableSince ??= elapsed();
      const maxWaitMs = databaseWaitMs - (elapsed() - unreachableSince);
      if (maxWaitMs < 0) {
        const waited = `The database could not be reached for ${databaseWaitMs / 1_000} s.`;
        giveUp(code, `${waited} ${reason ?? how}`);
      } else if (reason !== undefined && reason !== waitingFor) {
        waitingFor = reason;
        options.onWaiting(reason, maxWaitMs);
      }
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
      let child: ChildProcess;
      try {
        child = start(id);
      } catch (thrown) {
        // The system cannot create a process, for example because memory is short.
        if (!anyReady) throw thrown;
        const waitMs = delay.after(0);
        const reason = messageOf(thrown);
        log.write("server exited, starting another", { process_id: id, wait_ms: waitMs, reason });
        await pause(waitMs, ending);
        continue;
      }
      await waitForExit(child);
      const ranMs = elapsed() - startedServerAt;
      if (!ending.aborted) checkExit(child, ranMs);
      if (ending.aborted) return;
      const lastId = newIds.get(child) ?? id;
      reportExit(lastId);
      const waitMs = delay.after(ranMs);
      logRestart(child, lastId, waitMs);
      await pause(waitMs, ending);
    }
  }

  function logRestart(child: ChildProcess, processId: string, waitMs: number): void {
    // While startup waits for the database, the line has level `debug`, because `onWaiting` has
    // already reported the reason.
    const isWaiting = !anyReady && child.exitCode === exitCodes.databaseUnreachable;
    log.write(isWaiting ? "server waits for the database" : "server exited, starting another", {
      process_id: processId,
      wait_ms: waitMs,
      exit_code: child.exitCode,
      signal: child.signalCode,
      reason: failures.get(child),
    });
  }

  addAbortListener(ending, () => firstReady.resolve());
  const others = firstReady.promise.then(() =>
    Promise.all(Array.from({ length: count - 1 }, keepOne)),
  );
  await Promise.all([keepOne(), others]);
  return exitCode;
}

/** Adds the id of an exited server. Above `maxUnrecorded` ids, removes the oldest one. */
export function addRecent(unrecorded: Set<string>, id: string): void {
  unrecorded.add(id);
  const [oldest] = unrecorded;
  if (unrecorded.size > maxUnrecorded && oldest !== undefined) unrecorded.delete(oldest);
}

/**
 * Adds up the runs that draining servers report, and calls `onDraining` once with the sum, unless
 * it is 0. The call is made when all `running` servers have reported, at the latest
 * `maxDrainReportMs` after the first report.
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
