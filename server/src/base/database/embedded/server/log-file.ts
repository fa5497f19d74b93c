import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { copyFile, stat, truncate } from "node:fs/promises";

/** PostgreSQL's log file. PostgreSQL appends to it; this process limits its size. */
export interface LogFile {
  readonly path: string;
  /** File descriptor for the output of a child process. `reopen` changes it. */
  readonly descriptor: number;
  /**
   * Opens `path` again, and creates the file if it was deleted or renamed. Child processes that
   * have the earlier descriptor keep writing to the earlier file.
   */
  reopen(): void;
  /** Returns the current size in bytes. */
  size(): number;
  /** Returns what was written after the offset `from`, at most the last 4,096 bytes. */
  tail(from: number): string;
  close(): void;
}

/**
 * Opens the file for appending, and checks its size every `checkMs` (default 60,000). When the file
 * is larger than `maxBytes` (default 10 MiB), it is copied to `<path>.1` and truncated. If it
 * cannot be copied, it is truncated when it is larger than four times `maxBytes`. PostgreSQL keeps
 * the file open and, because of O_APPEND, continues at the new end.
 *
 * Rejected: PostgreSQL's logging collector, which is one more process and does not limit the size
 * of a file; a pipe through this process, because PostgreSQL could not log after this process
 * exited.
 */
export function openLogFile(
  path: string,
  { maxBytes = 10 * 1_024 * 1_024, checkMs = 60_000 } = {},
): LogFile {
  // Size and tail are read through the descriptor, because the path may no longer exist: operators
  // delete logs to free space.
  const open = () => openSync(path, "a+", 0o600);
  let descriptor = open();
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
    get descriptor() {
      return descriptor;
    },
    reopen: () => {
      const earlier = descriptor;
      descriptor = open();
      closeSync(earlier);
    },
    size: () => fstatSync(descriptor).size,
    tail: (from) => {
      const { size } = fstatSync(descriptor);
      const start = Math.max(Math.min(from, size), size - 4_096);
      const buffer = Buffer.alloc(size - start);
      const bytesRead = readSync(descriptor, buffer, 0, buffer.length, start);
      return buffer.subarray(0, bytesRead).toString("utf8").trim();
    },
    close: () => {
      clearInterval(watch);
      closeSync(descriptor);
    },
  };
}

/**
 * Factor of `maxBytes` above which a log that cannot be copied is truncated: it must not fill the
 * disk.
 */
const factorWithoutCopy = 4;

/** Copies a log that is larger than `maxBytes` to `<path>.1`, and truncates it. */
export async function rotate(path: string, maxBytes: number): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size <= maxBytes) return;
  const isCopied = await copyFile(path, `${path}.1`).then(
    () => true,
    () => false,
  );
  if (isCopied || size > factorWithoutCopy * maxBytes) await truncate(path).catch(() => {});
}
