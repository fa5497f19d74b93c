import { closeSync, openSync } from "node:fs";
import { copyFile, open, stat, truncate } from "node:fs/promises";

/** PostgreSQL's own messages: appended by it, kept small by us. */
export interface LogFile {
  readonly path: string;
  /** To be handed to a child as its output. */
  readonly descriptor: number;
  /** Where the file ends now. */
  size(): Promise<number>;
  /** The last lines written after `from`. */
  tail(from: number): Promise<string>;
  close(): void;
}

/**
 * Opens the file for appending. Above `largest` (10 MiB) it becomes `<path>.1` by copy and truncation: PostgreSQL holds it open, and with
 * O_APPEND goes on at the new end. Rejected: PostgreSQL's logging collector (one more process, and with one file name it never
 * drops anything), and a pipe through this process (an orphan could not log).
 */
export function openLogFile(
  path: string,
  { largest = 10 * 1_024 * 1_024, checkMs = 60_000 } = {},
): LogFile {
  const descriptor = openSync(path, "a", 0o600);
  let shortening = false;
  const watch = setInterval(async () => {
    // One after the other: a second one would copy what the first has just cut off.
    if (shortening) return;
    shortening = true;
    await shorten(path, largest);
    shortening = false;
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

async function shorten(path: string, largest: number): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size <= largest) return;
  await copyFile(path, `${path}.1`).catch(() => {});
  await truncate(path).catch(() => {});
}
