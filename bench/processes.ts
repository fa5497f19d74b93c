import { type ChildProcess, fork } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A process that the bench has started, and the first thing it said. */
export interface Started<T> {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly said: T;
}

/** Starts a file of this folder and waits for its first message. */
export async function run<T>(
  file: string,
  args: readonly string[],
  options: { env?: Record<string, string>; flags?: readonly string[] } = {},
): Promise<Started<T>> {
  const { env = {}, flags = [] } = options;
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, args, { env: { ...process.env, ...env }, execArgv: [...process.execArgv, ...flags] });
  const said = await new Promise<T>((resolve, reject) => {
    child.once("message", (message) => resolve(message as T));
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code} before it was ready`)));
  });
  return { child, pid: child.pid ?? 0, said };
}

export async function stop({ child }: Pick<Started<unknown>, "child">): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

/** CPU seconds that a process and, with `tree`, its descendants have used, ended ones that it has waited for included. */
export function cpuSeconds(pid: number, options: { tree: boolean }): number {
  return (options.tree ? family(pid) : [pid]).reduce((sum, one) => {
    const fields = statOf(one);
    return sum + (Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14])) / 100;
  }, 0);
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
}

function family(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: Number(statOf(Number(name))[1]) }));
  const found = [pid];
  for (const one of found) found.push(...parents.filter((other) => other.parent === one).map((other) => other.pid));
  return found;
}

/** Fields of /proc/<pid>/stat after the command's name; empty for a process that has gone. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
