import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/**
 * Clears up after a test run that was interrupted or killed, when no teardown of ours runs any more: a shell that waits until its
 * input ends, which it does however we end. It then stops a PostgreSQL that still works in one of the folders it was told, and
 * removes them. After an orderly end it finds nothing to do.
 */
export interface Guard {
  watch(folder: string): void;
  /** Resolves when all is cleared up. */
  release(): Promise<void>;
}

const script = `
trap '' INT TERM HUP
folders=
while read -r folder; do folders="$folders $folder"; done
for folder in $folders; do
  for file in "$folder"/postmaster.pid "$folder"/*/postmaster.pid; do
    [ -f "$file" ] || continue
    pid=$(head -n 1 "$file")
    # A number may have gone to another process since: ask what it runs.
    case $(ps -o args= -p "$pid" 2>/dev/null || tr '\\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) in
      *"$folder"*) kill -QUIT "$pid" ;;
      *) continue ;;
    esac
    tries=0
    while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  done
  # An initdb that outlived us for a moment may still be writing there.
  tries=0
  until rm -rf "$folder" 2>/dev/null || [ "$tries" -ge 50 ]; do sleep 0.1; tries=$((tries + 1)); done
done
`;

export function startGuard(): Guard {
  // In a session of its own, so that Ctrl-C reaches us and not the guard.
  const child: ChildProcess = spawn("sh", ["-c", script], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  const exited = once(child, "exit");
  return {
    // Folders come from mkdtemp and have no spaces.
    watch: (folder) => child.stdin?.write(`${folder}\n`),
    release: async () => {
      child.stdin?.end();
      await exited;
    },
  };
}
