import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * Returns the process of `pids` that listens on a TCP port of 127.0.0.1, or undefined if none does.
 * Reads Linux's /proc/net/tcp (proc(5)) and not Beckon's output, because the output differs between
 * the compared versions.
 */
export function listenerOf(port: number, pids: readonly number[]): number | undefined {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const listening = "0A";
  const sockets = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const inode = sockets.find(([, local, , state]) => local === address && state === listening)?.[9];
  if (inode === undefined) return undefined;
  return pids.find((pid) => openFiles(pid).includes(`socket:[${inode}]`));
}

function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return "";
      }
    });
  } catch {
    return [];
  }
}
