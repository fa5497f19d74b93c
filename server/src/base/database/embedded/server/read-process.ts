import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** A running process, with the data that every user can read. */
export interface ProcessInfo {
  /** Start as Unix time in seconds. On Linux, setting the system clock afterwards shifts it. */
  readonly startedAt: number;
  /** The command line, beginning with the program. */
  readonly command: string;
}

/** Returns the process with this pid; undefined if there is none or it is a zombie. */
export function readProcess(pid: number): Promise<ProcessInfo | undefined> {
  return process.platform === "linux" ? readFromProc(pid) : readFromPs(pid);
}

/**
 * Reads the process from /proc, because container images often lack `ps`. Returns undefined if
 * there is none. The start time in /proc is in clock ticks since boot. A tick is 1/100 s on every
 * Linux that Node runs on.
 */
async function readFromProc(pid: number): Promise<ProcessInfo | undefined> {
  try {
    const [status, command, system] = await Promise.all(
      [`/proc/${pid}/stat`, `/proc/${pid}/cmdline`, "/proc/stat"].map((path) =>
        readFile(path, "utf8"),
      ),
    );
    // The second field of `stat` is the program's name in parentheses. The name can contain spaces
    // and parentheses, so the fields after the last parenthesis are split.
    const fields = (status ?? "").slice((status ?? "").lastIndexOf(")") + 2).split(" ");
    const booted = Number(/^btime (\d+)$/m.exec(system ?? "")?.[1]);
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    return {
      startedAt: booted + Number(fields[19]) / 100,
      command: (command ?? "").split("\0").join(" ").trim(),
    };
  } catch {
    return undefined;
  }
}

/**
 * Reads the process with `ps`, on systems other than Linux. Returns undefined if there is none.
 * Exported for its test, which compares it with /proc.
 */
export async function readFromPs(pid: number): Promise<ProcessInfo | undefined> {
  const env = { PATH: "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" };
  try {
    const { stdout } = await promisify(execFile)(
      "ps",
      ["-ww", "-p", String(pid), "-o", "stat=,lstart=,command="],
      { env, timeout: 5_000 },
    );
    const match = /^\s*(\S+)\s+\w{3} (\w{3})\s+(\d+) (\S+) (\d{4})\s+(.*)$/s.exec(stdout.trimEnd());
    if (match === null || match[1]?.startsWith("Z")) return undefined;
    const startedAt = Date.parse(`${match[3]} ${match[2]} ${match[5]} ${match[4]} UTC`) / 1_000;
    return { startedAt, command: match[6] ?? "" };
  } catch {
    return undefined;
  }
}
