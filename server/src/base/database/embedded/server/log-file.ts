import { closeSync, openSync } from "node:fs";
import { copyFile, open, stat, truncate } from "node:fs/promises";

/** PostgreSQL's log file. PostgreSQL appends to it; this process limits its size. */
export interface LogFile {
  readonly path: string;
  /** File descriptor for the output of a child process. */
  readonly descriptor: number;
  /** Returns the current size in bytes. */
  size(): Promise<number>;
  /** Returns what was written after the offset `from`, at most the last 4,096 bytes. */
  tail(from: number): Promise<string>;
  close(): void;
}

/**
 * Opens the file for appending, and checks its size every `checkMs` (default 60,000). When the file
 * is larger than `maxBytes` (default 10 MiB), it is copied to `<path>.1` and truncated. PostgreSQL
 * keeps the file open and, because of O_APPEND, continues at the new end.
 *
 * Rejected: PostgreSQL's logging collector, which is one more process and does not limit the size
 * of a file; a pipe through this process, because PostgreSQL could not log after this process
 * exited.
 */
export function openLogFile(
  path: string,
  { maxBytes = 10 * 1_024 * 1_024, checkMs = 60_000 } = {},
): LogFile {
  const descriptor = openSync(path, "a", 0o600);
  let rotating = false;
  const watch = setInterval(async () => {
    // Only one rotation runs at a time: a second one would overwrite the copy with the truncated
    // file.
    if (rotating) return;
    rotating = true;
    await rotate(path, maxBytes);
    rotating = false;
  }, checkMs);
  watch.unref();
  return {
    path,
    descriptor,
    size: async () => (await stat(path)).size,
    tail: async (from) => {
      const file = await open(path, "r");
      try {
        const { size } = await file.stat();
        const start = Math.max(Math.min(from, size), size - 4_096);
        const { buffer, bytesRead } = await file.read(
          Buffer.alloc(size - start),
          0,
          size - start,
          start,
        );
        return buffer.subarray(0, bytesRead).toString("utf8").trim();
      } finally {
        await file.close();
      }
    },
    close: () => {
      clearInterval(watch);
      closeSync(descriptor);
    },
  };
}

async function rotate(path: string, maxBytes: number): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size <= maxBytes) return;
  await copyFile(path, `${path}.1`).catch(() => {});
  await truncate(path).catch(() => {});
}
