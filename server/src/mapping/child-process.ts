import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { FrameReader } from "./frames.ts";
import { type EvaluationLimits, maxMessageBytes } from "./mapping.ts";
import { type FromChild, fromChild } from "./messages.ts";
import { readablePaths } from "./readable-paths.ts";

const entry = fileURLToPath(new URL("./child/main.ts", import.meta.url));

/**
 * Maximum bytes of a frame (one message over a pipe) from a child. Escapes in JSON can make a
 * rendered message six times as long.
 */
const maxResultBytes = 6 * maxMessageBytes + 65_536;
/** Maximum bytes of a frame to a child: the largest payload with variables, filter and template. */
const maxRequestBytes = 64 * 1_048_576;

/**
 * Units of LiquidJS' memory limit (characters and elements that a rendering creates) for each MiB
 * of heap: about 16 bytes for each unit. A character takes one or two bytes, an element eight, so a
 * rendering reaches this limit before the heap is full.
 */
const objectsPerMib = 62_500;

/** A running child process. */
export interface EvaluationProcess {
  write(frame: Buffer): void;
  /**
   * CPU time that the process has used, in milliseconds; undefined if the system does not report
   * it.
   */
  usedMs(): number | undefined;
  kill(): void;
}

/** Returns the flags of Node.js for a child, and the parameters of `child/main.ts`. */
export function childArguments(limits: EvaluationLimits): {
  readonly flags: readonly string[];
  readonly parameters: readonly string[];
} {
  return {
    flags: [
      "--permission",
      ...readablePaths().map((path) => `--allow-fs-read=${path}/`),
      `--max-old-space-size=${limits.heapMib}`,
      "--max-semi-space-size=4",
      "--disallow-code-generation-from-strings",
      "--disable-proto=delete",
      "--no-warnings",
    ],
    parameters: [limits.timeoutMs, limits.heapMib * objectsPerMib, maxRequestBytes].map(String),
  };
}

/**
 * Starts a child process that can do nothing but compute: its environment is empty, it can read
 * only its own code, and it can write no file and start no process or thread (Node.js' permission
 * model). Versions of Node.js that have a permission for the network also deny it the network.
 * @param on `exit` is called once, even if the process could not be started.
 */
export function startChild(
  limits: EvaluationLimits,
  on: { result: (result: FromChild) => void; exit: () => void },
): EvaluationProcess {
  const { flags, parameters } = childArguments(limits);
  const process_: ChildProcess = spawn(process.execPath, [...flags, entry, ...parameters], {
    env: {},
    cwd: "/",
    stdio: ["pipe", "pipe", "ignore"],
  });
  const { stdin, stdout } = process_;
  const frames = new FrameReader(maxResultBytes);
  const kill = () => {
    process_.kill("SIGKILL");
  };
  let exited = false;
  const exit = () => {
    if (exited) return;
    exited = true;
    stdin?.destroy();
    stdout?.destroy();
    on.exit();
  };
  process_.once("error", exit);
  process_.once("exit", exit);
  // A write to a process that has just exited fails. The error can be ignored, because the event
  // `exit` reports the exit.
  stdin?.on("error", () => {});
  stdout?.on("error", () => {});
  stdout?.on("data", (chunk: Buffer) => {
    try {
      frames.push(chunk);
      for (let frame = frames.next(); frame !== undefined; frame = frames.next())
        if (!exited) on.result(fromChild.parse(JSON.parse(frame.head.toString())));
    } catch {
      // A process that sends an invalid frame can no longer be trusted.
      kill();
    }
  });
  // An idle child does not keep the server running.
  process_.unref();
  // If no file descriptor was free, the child was not started and has no streams. The event `error`
  // then calls `exit`.
  for (const stream of [stdin, stdout]) if (stream) unref(stream);
  return {
    write: (frame) => void stdin?.write(frame),
    usedMs: () => processorTime(process_.pid),
    kill,
  };
}

function unref(stream: object): void {
  if ("unref" in stream && typeof stream.unref === "function") stream.unref();
}

/** Length of a clock tick in /proc (`sysconf`) on every Linux that Node.js supports. */
const tickMs = 10;

function processorTime(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // proc_pid_stat(5): utime and stime are fields 14 and 15. Field 2, the name in parentheses, can
    // contain spaces, so the text is split after it, from field 3 on.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? ticks * tickMs : undefined;
  } catch {
    return undefined;
  }
}
