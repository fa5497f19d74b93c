import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/**
 * Cleans up after a test run, even if the run was interrupted or killed. A shell process waits
 * until its input is closed: by `release`, or by the operating system when the test run exits. Then
 * it stops every PostgreSQL in the folders that `watch` was called with, and removes these folders.
 */
export interface Guard {
  watch(folder: string): void;
  /** Resolves when everything is cleaned up. */
  release(): Promise<void>;
}

const script = `
trap '' INT TERM HUP
while IFS= read -r folder; do set -- "$@" "$folder"; done
for folder in "$@"; do
  for file in "$folder"/postmaster.pid "$folder"/*/postmaster.pid; do
    [ -f "$file" ] || continue
    pid=$(head -n 1 "$file")
    # By now, another process can have this pid. The command says whether it is PostgreSQL.
    case $(ps -o args= -p "$pid" 2>/dev/null || tr '\\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) in
      *"$folder"*) kill -QUIT "$pid" ;;
      *) continue ;;
    esac
    tries=0
    while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  done
  # An initdb that the test run started can live a moment longer and still write files.
  tries=0
  until rm -rf "$folder" 2>/dev/null || [ "$tries" -ge 50 ]; do sleep 0.1; tries=$((tries + 1)); done
done
`;

export function startGuard(): Guard {
  // `detached` starts the guard in its own session, so that Ctrl-C does not reach it.
  const child: ChildProcess = spawn("sh", ["-c", script], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  const exited = once(child, "exit");
  return {
    watch: (folder) => child.stdin?.write(`${folder}\n`),
    release: async () => {
      child.stdin?.end();
      await exited;
    },
  };
}
