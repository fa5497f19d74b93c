import { type ChildProcess, fork } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A process that the benchmark has started, and its first message. */
export interface Started<T> {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly message: T;
}

/**
 * Starts a file of this folder and waits for its first message. The process is stopped when
 * `opened` is disposed.
 * @throws if the process exits before it sends a message
 */
export async function run<T>(
  opened: AsyncDisposableStack,
  file: string,
  args: readonly string[],
  options: { env?: Record<string, string>; flags?: readonly string[] } = {},
): Promise<Started<T>> {
  const { env = {}, flags = [] } = options;
  const path = fileURLToPath(new URL(file, import.meta.url));
  let child: ChildProcess | undefined;
  opened.defer(() => stop({ child }));
  const started = fork(path, args, {
    env: { ...process.env, ...env },
    execArgv: [...process.execArgv, ...flags],
  });
  child = started;
  const message = await new Promise<T>((resolve, reject) => {
    started.once("message", (message) => resolve(message as T));
    started.once("exit", (code) =>
      reject(new Error(`${file} exited with ${code} before it was ready`)),
    );
  });
  return { child: started, pid: started.pid ?? 0, message };
}

export async function stop({ child }: { readonly child: ChildProcess | undefined }): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

/**
 * Returns the CPU seconds used by a process and its exited children that it has waited for. With
 * `tree`, returns the sum for the process and all its descendants.
 */
export function cpuSeconds(pid: number, options: { tree: boolean }): number {
  return (options.tree ? family(pid) : [pid]).reduce((sum, one) => {
    // User and system time of the process and of the children that it has waited for, in hundredths
    // of a second. `ticks` is empty if the process has just exited.
    const ticks = statOf(one).slice(11, 15);
    return ticks.reduce((total, field) => total + Number(field) / 100, sum);
  }, 0);
}

/** Returns the resident memory of a process in MiB. */
export function residentMiB(pid: number): number {
  return (
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024
  );
}

/** Returns a process and all its descendants, parents before their children. */
export function family(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: Number(statOf(Number(name))[1]) }));
  const found = [pid];
  for (const one of found)
    found.push(...parents.filter((other) => other.parent === one).map((other) => other.pid));
  return found;
}

/**
 * Returns the fields of /proc/<pid>/stat after the command's name; empty if the process has exited.
 */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
