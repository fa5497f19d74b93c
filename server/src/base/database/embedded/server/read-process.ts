import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** A living process as anyone may see it, whoever owns it. */
export interface SeenProcess {
  /** Seconds since 1970, by today's clock. */
  readonly startedAt: number;
  /** Arguments, from the program's own name on. */
  readonly command: string;
}

/** What runs under `pid` now; undefined when nothing does, a zombie counting as nothing. */
export function readProcess(pid: number): Promise<SeenProcess | undefined> {
  return process.platform === "linux" ? readFromProc(pid) : readFromPs(pid);
}

/** From /proc, because container images often have no `ps`. Ticks are 1/100 s on every Linux that Node runs on. */
async function readFromProc(pid: number): Promise<SeenProcess | undefined> {
  try {
    const [status, command, system] = await Promise.all(
      [`/proc/${pid}/stat`, `/proc/${pid}/cmdline`, "/proc/stat"].map((path) =>
        readFile(path, "utf8"),
      ),
    );
    // The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
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

/** From `ps`, elsewhere. Exported for its test, which runs where /proc is there to compare with. */
export async function readFromPs(pid: number): Promise<SeenProcess | undefined> {
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
