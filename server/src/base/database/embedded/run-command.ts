import { spawn } from "node:child_process";
import { EmbeddedError } from "./embedded-error.ts";

/** A command to spawn, possibly through a wrapper or as another user. */
export interface Command {
  /** Name of the command in error messages. */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * All environment variables of PostgreSQL. Those of this process are not passed on: they contain
 * secrets, and PGDATA or PGOPTIONS would change what PostgreSQL does.
 */
export const bareEnvironment = {
  PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
  TZ: "UTC",
  LC_ALL: "C",
};

const maxOutputCharacters = 8_192;

/**
 * Runs a program in its own process group and waits for its exit. The whole group is killed after
 * `timeoutMs` or when `signal` aborts.
 * @returns the last 8,192 characters of the program's output.
 * @throws EmbeddedError with the end of the output if the program fails or does not exit in time,
 *   or with the reason if it cannot be run; the signal's reason on abort.
 */
export async function runCommand(
  command: Command,
  {
    input = "",
    timeoutMs,
    signal,
  }: { input?: string; timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<string> {
  signal?.throwIfAborted();
  const { name, file, args, ...as } = command;
  const limit = AbortSignal.timeout(timeoutMs);
  const child = spawn(file, args, {
    ...as,
    cwd: "/",
    env: bareEnvironment,
    detached: true,
    stdio: "pipe",
  });
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  limit.addEventListener("abort", kill);
  signal?.addEventListener("abort", kill);
  let output = "";
  const keep = (text: string) => {
    output = (output + text).slice(-maxOutputCharacters);
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  child.stdin.on("error", () => {}).end(input);
  try {
    const code = await new Promise<number | null>((resolve, reject) =>
      child
        .on("error", (error) =>
          reject(new EmbeddedError(`${name} cannot be run: ${error.message}.`, { cause: error })),
        )
        .on("close", resolve),
    );
    signal?.throwIfAborted();
    if (limit.aborted)
      throw new EmbeddedError(
        `${name} did not exit within ${timeoutMs / 1_000} s. It printed:\n${output}`,
      );
    if (code !== 0) throw new EmbeddedError(`${name} failed:\n${output.trim()}`);
    return output;
  } finally {
    limit.removeEventListener("abort", kill);
    signal?.removeEventListener("abort", kill);
  }
}
