import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { newId } from "../../src/base/ids.ts";
import { parseFromServer } from "../../src/supervisor/messages.ts";

/** One slot of the fleet, with its current server process. A killed process is replaced. */
export interface Server {
  readonly processId: string;
  /** Empty until the process is ready. */
  readonly url: string;
  readonly child: ChildProcess;
  /** Whether the process is ready, and neither killed nor stopped with SIGSTOP. */
  readonly up: boolean;
}

/** Starts and restarts server processes as the supervisor does, and can kill them. */
export interface Fleet {
  readonly servers: readonly Server[];
  /** Lines that the servers logged as errors. None is expected for any fault. */
  readonly errors: readonly string[];
  /**
   * Sends SIGKILL. With `notify`, the other servers and the next process of the slot are notified
   * of the exit; otherwise they detect it by the expired lease. Resolves when the process has
   * exited; `restarted` resolves when the next process is ready.
   */
  kill(slot: number, options: { notify: boolean }): Promise<{ restarted: Promise<void> }>;
  /** Sends SIGSTOP: the process keeps its connections and does nothing. */
  stop(slot: number): void;
  /** Sends SIGCONT. */
  resume(slot: number): void;
  /**
   * Returns the slot of the server with this Beckon process id (`prc_…`) or system pid; -1 if
   * unknown. A process that was stopped can have a new id, which the fleet does not know. So if
   * only one process was stopped, an unknown id is taken to be its id.
   */
  slotOf(process: string | number): number;
  close(): Promise<void>;
}

const entry = fileURLToPath(new URL("../fixtures/crashing-server.ts", import.meta.url));
/** Startup timeout. It is long, because several servers start at once. */
const startTimeoutMs = 60_000;

interface Slot {
  processId: string;
  url: string;
  child: ChildProcess;
  up: boolean;
  /** Whether the process was stopped with SIGSTOP, after which it can have a new process id. */
  renamed: boolean;
  /** Whether the test has killed the process. */
  killed: boolean;
}

/** Starts `count` servers with this environment; resolves when all are ready. */
export async function startFleet(
  count: number,
  environment: Readonly<Record<string, string>>,
): Promise<Fleet> {
  const errors: string[] = [];
  let closing = false;

  async function launch(exited: readonly string[], slot?: Slot): Promise<Slot> {
    const processId = newId("prc");
    const args = [
      `--process=${processId}`,
      ...(exited.length === 0 ? [] : [`--exited=${exited.join(",")}`]),
    ];
    const env = {
      PATH: process.env.PATH,
      // With the compile cache, the startup of a server takes half as much CPU.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: "0",
      LOG_LEVEL: "error",
      ...environment,
    };
    const child = fork(entry, args, {
      env,
      execArgv: [],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null)
        createInterface({ input: stream }).on("line", (line) => errors.push(line));
    }
    const launched = slot ?? {
      processId,
      url: "",
      child,
      up: false,
      renamed: false,
      killed: false,
    };
    Object.assign(launched, {
      processId,
      url: "",
      child,
      up: false,
      renamed: false,
      killed: false,
    });
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(
        () => reject(new Error("a server was not ready in time")),
        startTimeoutMs,
      );
      child.on("message", (message) => {
        const ready = parseFromServer(message);
        // A message can arrive after the exit of its process.
        if (ready?.type !== "ready" || launched.child !== child || launched.killed) return;
        Object.assign(launched, { url: ready.url, up: true });
        clearTimeout(timeout);
        resolve(launched);
      });
      child.once("exit", (code) => {
        clearTimeout(timeout);
        // `kill` starts the next process.
        if (closing || launched.killed) return resolve(launched);
        const wasReady = launched.url !== "";
        launched.up = false;
        // A server executes runs before it reports that it is ready, so that a run that kills its
        // process can end a startup too. A server that exits with a code has failed to start.
        if (!wasReady && code !== null)
          return reject(
            new Error(`a server exited during startup:\n${errors.slice(-5).join("\n")}`),
          );
        const next = launch([], launched);
        next.catch((thrown) => errors.push(String(thrown)));
        resolve(next);
      });
    });
  }

  const slots: Slot[] = [await launch([])];
  slots.push(...(await Promise.all(Array.from({ length: count - 1 }, () => launch([])))));
  const at = (slot: number): Slot => {
    const found = slots[slot];
    if (found === undefined) throw new Error(`there is no server ${slot}`);
    return found;
  };

  return {
    servers: slots,
    errors,
    async kill(slot, { notify }) {
      const { child, processId } = at(slot);
      Object.assign(at(slot), { up: false, killed: true });
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await exited;
      if (notify) {
        for (const other of slots)
          if (other.up) other.child.send({ type: "exited", process_ids: [processId] }, () => {});
      }
      const restarted = closing
        ? Promise.resolve()
        : launch(notify ? [processId] : [], at(slot)).then(() => {});
      restarted.catch(() => {});
      return { restarted };
    },
    stop(slot) {
      at(slot).up = false;
      at(slot).child.kill("SIGSTOP");
    },
    resume(slot) {
      at(slot).child.kill("SIGCONT");
      at(slot).up = true;
      at(slot).renamed = true;
    },
    slotOf(id) {
      const known = slots.findIndex(({ processId, child }) => processId === id || child.pid === id);
      const renamed = slots.filter((slot) => slot.renamed);
      return known >= 0 || renamed.length !== 1 ? known : slots.findIndex((slot) => slot.renamed);
    },
    async close() {
      closing = true;
      await Promise.all(
        slots.map(async ({ child }) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const exited = once(child, "exit");
          child.kill("SIGKILL");
          await exited;
        }),
      );
    },
  };
}
