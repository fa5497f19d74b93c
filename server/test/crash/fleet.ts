import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { newId } from "../../src/base/ids.ts";
import { parseFromServer } from "../../src/supervisor/messages.ts";

/** One place of the fleet: a server process, or the gap until its successor is ready. */
export interface Server {
  readonly processId: string;
  /** Empty until it is ready. */
  readonly url: string;
  readonly child: ChildProcess;
  /** Neither killed nor stopped. */
  readonly up: boolean;
}

/** Servers as the supervisor keeps them, started again when they die, except that this one also kills. */
export interface Fleet {
  readonly servers: readonly Server[];
  /** Lines that the servers have logged as errors: none is expected, whatever happens to them. */
  readonly errors: readonly string[];
  /**
   * kill -9. The others are told that it is dead, and its successor too, if `told`; else they find out by its lease.
   * @returns when it is dead; `restarted` resolves when its successor answers.
   */
  kill(place: number, options: { told: boolean }): Promise<{ restarted: Promise<void> }>;
  /** SIGSTOP: it holds its connections and does nothing. */
  stop(place: number): void;
  /** SIGCONT. */
  resume(place: number): void;
  /** The place of the server process with this id or pid, or -1. A process that was stopped may have gone on under an id that nobody knows. */
  placeOf(process: string | number): number;
  close(): Promise<void>;
}

const entry = fileURLToPath(new URL("../fixtures/crashing-server.ts", import.meta.url));
/** Milliseconds until a start is given up: a machine that runs several of them at once is slow. */
const startWithin = 60_000;

interface Place {
  processId: string;
  url: string;
  child: ChildProcess;
  up: boolean;
  /** Was stopped, and may have taken a new id since. */
  renamed: boolean;
  /** Is being killed from here. */
  killed: boolean;
}

/** Starts `count` servers with these settings; resolves when all answer. */
export async function startFleet(
  count: number,
  environment: Readonly<Record<string, string>>,
): Promise<Fleet> {
  const errors: string[] = [];
  let closing = false;

  async function launch(reaped: readonly string[], place?: Place): Promise<Place> {
    const processId = newId("prc");
    const args = [
      `--process=${processId}`,
      ...(reaped.length === 0 ? [] : [`--reaped=${reaped.join(",")}`]),
    ];
    const env = { PATH: process.env.PATH, PORT: "0", LOG_LEVEL: "error", ...environment };
    const child = fork(entry, args, {
      env,
      execArgv: [],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null)
        createInterface({ input: stream }).on("line", (line) => errors.push(line));
    }
    const launched = place ?? {
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
    const signal = AbortSignal.timeout(startWithin);
    const failed = once(child, "exit", { signal }).then(() => {
      // Killed while it started: whoever did that starts the next.
      if (child.signalCode !== "SIGKILL")
        throw new Error(`a server ended while it started:\n${errors.slice(-5).join("\n")}`);
    });
    const ready = once(child, "message", { signal }).then(([message]) => {
      const ready = parseFromServer(message);
      if (ready?.type !== "ready" || launched.child !== child) return;
      Object.assign(launched, { url: ready.url, up: true });
      child.once("exit", () => {
        if (closing || launched.killed) return;
        launched.up = false;
        launch([], launched).catch((thrown) => errors.push(String(thrown)));
      });
    });
    ready.catch(() => {});
    failed.catch(() => {});
    await Promise.race([ready, failed]);
    return launched;
  }

  const places: Place[] = [await launch([])];
  places.push(...(await Promise.all(Array.from({ length: count - 1 }, () => launch([])))));
  const at = (place: number): Place => {
    const found = places[place];
    if (found === undefined) throw new Error(`there is no server ${place}`);
    return found;
  };

  return {
    servers: places,
    errors,
    async kill(place, { told }) {
      const { child, processId } = at(place);
      Object.assign(at(place), { up: false, killed: true });
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await exited;
      if (told) {
        for (const other of places)
          if (other.up) other.child.send({ type: "reaped", process_ids: [processId] }, () => {});
      }
      const restarted = closing
        ? Promise.resolve()
        : launch(told ? [processId] : [], at(place)).then(() => {});
      restarted.catch(() => {});
      return { restarted };
    },
    stop(place) {
      at(place).up = false;
      at(place).child.kill("SIGSTOP");
    },
    resume(place) {
      at(place).child.kill("SIGCONT");
      at(place).up = true;
      at(place).renamed = true;
    },
    placeOf(id) {
      const known = places.findIndex(
        ({ processId, child }) => processId === id || child.pid === id,
      );
      const renamed = places.filter((place) => place.renamed);
      return known >= 0 || renamed.length !== 1
        ? known
        : places.findIndex((place) => place.renamed);
    },
    async close() {
      closing = true;
      await Promise.all(
        places.map(async ({ child }) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const exited = once(child, "exit");
          child.kill("SIGKILL");
          await exited;
        }),
      );
    },
  };
}
