import { pino } from "pino";
import { undefinedAfter } from "../clock.ts";

/** Where a log writes its lines. */
export interface LogOutput {
  /** @param line ends with a newline */
  write(line: string): void;
  /** Begins to write the buffered lines. Absent if the output has no buffer. */
  flush?(): void;
  /**
   * Sets the listener that is called after lines were dropped, as soon as new lines can be written
   * again. `lines` is the number of dropped lines; they are lost.
   */
  onDropped?(listener: (lines: number) => void): void;
}

/**
 * Maximum bytes of a block of lines, which is one write. All processes of Beckon share one pipe.
 * POSIX guarantees that writes of up to PIPE_BUF bytes to a pipe are not interleaved with those of
 * other processes, and PIPE_BUF is 4,096 on Linux. A server process that has the pipe alone writes
 * larger blocks: each write wakes another thread, and with blocks of 4,096 bytes these writes took
 * 6 % of the server's CPU time.
 */
const maxBlockBytes = { shared: 4_096, alone: 32_768 };
/** Time after which a block is written although it is not full. */
const maxDelayMs = 250;
/** Maximum bytes that are buffered for a slow reader. Above this limit, lines are dropped. */
const maxBufferedBytes = 8 * 1024 * 1024;

let output: BufferedOutput | undefined;

/**
 * Returns the buffered standard output, which all logs of this process share. Buffered lines are
 * written before the process exits, even after an uncaught error.
 * @param sharing `alone` if no other process writes many lines to the same pipe. It has an effect
 *   only in the first call, which creates the output.
 */
export function standardOutput(sharing: "alone" | "shared" = "shared"): LogOutput {
  output ??= new BufferedOutput(maxBlockBytes[sharing]);
  return output;
}

/**
 * Standard output. Lines are collected here and not in the destination that pino creates
 * (sonic-boom), because sonic-boom measures its whole buffer again for each line.
 */
class BufferedOutput implements LogOutput {
  readonly #maxBytes: number;
  readonly #destination: ReturnType<typeof pino.destination>;
  #lines: string[] = [];
  #bytes = 0;
  #dropped = 0;
  #reported = 0;
  #onDropped: (lines: number) => void = () => {};

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    // These listeners are registered before those of `pino.destination`, so they run first. They
    // pass the last block to pino, whose listeners then write everything to standard output.
    for (const event of ["beforeExit", "exit"]) process.on(event, () => this.#writeBlock());
    this.#destination = pino.destination({
      dest: 1,
      sync: false,
      maxWrite: maxBytes,
      maxLength: maxBufferedBytes,
    });
    // A full disk behind standard output must not end the process.
    this.#destination.on("error", () => {});
    this.#destination.on("drop", (block: string) => {
      this.#dropped += block.split("\n").length - 1;
    });
    this.#destination.on("drain", () => {
      if (this.#dropped === this.#reported) return;
      this.#onDropped(this.#dropped - this.#reported);
      this.#reported = this.#dropped;
    });
    setInterval(() => this.#writeBlock(), maxDelayMs).unref();
  }

  get dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > this.#maxBytes) this.#writeBlock();
    this.#lines.push(line);
    this.#bytes += bytes;
  }

  flush(): void {
    this.#writeBlock();
  }

  onDropped(listener: (lines: number) => void): void {
    this.#onDropped = listener;
  }

  /** Resolves when all lines are written. */
  written(): Promise<void> {
    this.#writeBlock();
    return new Promise((resolve) => this.#destination.flush(() => resolve()));
  }

  #writeBlock(): void {
    if (this.#lines.length === 0) return;
    const block = this.#lines.join("");
    this.#lines = [];
    this.#bytes = 0;
    this.#destination.write(block);
  }
}

/** Returns the number of lines that were dropped because standard output was not read. */
export function droppedLogLines(): number {
  return output?.dropped ?? 0;
}

/** Resolves when all lines are written, or after `maxWaitMs` if nothing reads them. */
export async function flushLogs(maxWaitMs = 1_000): Promise<void> {
  if (output !== undefined) await undefinedAfter(output.written(), maxWaitMs);
}
