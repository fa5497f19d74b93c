import { pino } from "pino";
import { sleep } from "../clock.ts";

/** Where a log writes its lines. */
export interface LogOutput {
  /** @param line ends with a newline */
  write(line: string): void;
  /** Writes what is buffered soon. Absent if nothing is buffered. */
  flush?(): void;
  /** Sets the listener that is called when lines were dropped and can be written again. */
  onDropped?(listener: (lines: number) => void): void;
}

/**
 * Maximum bytes of a write. POSIX guarantees that writes of up to 4,096 bytes (PIPE_BUF) to a pipe
 * are not interleaved with those of other processes. All processes of Beckon share one pipe.
 */
const maxWriteBytes = 4_096;
/** Lines are written when there are this many bytes, and after `maxDelayMs`. */
const minWriteBytes = 3_500;
const maxDelayMs = 250;
/** Bytes that wait for a reader that is slow. Above this limit, lines are dropped. */
const maxBufferedBytes = 8 * 1024 * 1024;

type Destination = ReturnType<typeof pino.destination>;
let destination: Destination | undefined;
let droppedLines = 0;
let reportedLines = 0;
let onDropped: (lines: number) => void = () => {};

/**
 * Returns the buffered standard output, which all logs of this process share. Pino flushes it when
 * the process exits, also after an uncaught error.
 */
export function standardOutput(): LogOutput {
  destination ??= openStandardOutput();
  const opened = destination;
  return {
    write: (line) => void opened.write(line),
    flush: () => opened.flush(),
    onDropped: (listener) => {
      onDropped = listener;
    },
  };
}

function openStandardOutput(): Destination {
  const opened = pino.destination({
    dest: 1,
    sync: false,
    minLength: minWriteBytes,
    maxWrite: maxWriteBytes,
    maxLength: maxBufferedBytes,
    periodicFlush: maxDelayMs,
  });
  // A full disk behind standard output must not end the process.
  opened.on("error", () => {});
  opened.on("drop", () => {
    droppedLines++;
  });
  opened.on("drain", () => {
    if (droppedLines === reportedLines) return;
    onDropped(droppedLines - reportedLines);
    reportedLines = droppedLines;
  });
  return opened;
}

/** Returns the number of lines that were dropped because nothing read them. */
export function droppedLogLines(): number {
  return droppedLines;
}

/** Resolves when all lines are written, or after `maxWaitMs` if nothing reads them. */
export async function flushLogs(maxWaitMs = 1_000): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (destination === undefined) return;
  destination.flush(() => resolve());
  await Promise.race([promise, sleep(maxWaitMs)]);
}
