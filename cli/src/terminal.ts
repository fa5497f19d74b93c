import type { BeckonError } from "@beckon/client";
import { exitCodes } from "./exit-codes.ts";

/** Streams, environment and signal of the process that runs a command. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts at Ctrl-C, SIGTERM and SIGHUP. */
  readonly stopped: AbortSignal;
  /** Whether standard output is a terminal, which interprets control characters. */
  readonly isOutputTerminal: boolean;
  /** Whether standard input is a terminal, on which a person would have to type. */
  readonly isInputTerminal: boolean;
  /**
   * Writes to standard output. Resolves when the system has taken the text.
   * @throws OutputError if it cannot be written
   */
  out(text: string): Promise<void>;
  /** Writes to standard error. Ignores errors, because there is nowhere to report them. */
  err(text: string): void;
  /**
   * Reads standard input up to its end.
   * @throws UsageError if it was read before, is longer than `maxBytes` or not UTF-8
   */
  readInput(maxBytes: number): Promise<string>;
}

/** The command line or an input file is wrong. The message says what to write instead. */
export class UsageError extends Error {}

/** An environment variable that a command reads is wrong or missing. */
export class SettingError extends Error {}

/** A command failed with an exit code of its own. The message says what to do. */
export class CommandFailure extends Error {
  readonly code: string;
  readonly exitCode: number;
  /** Id of the run that the failure is about; undefined if there is none or it is not known. */
  readonly runId: string | undefined;
  /** The Idempotency-Key of a call if it is not known whether it was executed, else undefined. */
  readonly idempotencyKey: string | undefined;
  /** Id of the request that Beckon rejected; undefined if there is none. */
  readonly requestId: string | undefined;

  constructor(
    code: string,
    exitCode: number,
    message: string,
    {
      runId,
      idempotencyKey,
      requestId,
    }: Partial<Pick<BeckonError, "runId" | "idempotencyKey" | "requestId">> = {},
  ) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.runId = runId;
    this.idempotencyKey = idempotencyKey;
    this.requestId = requestId;
  }
}

/** Standard output cannot be written. */
export class OutputError extends Error {
  /** Code of the system error; EPIPE if the reader of a pipe has closed it. */
  readonly code: string;

  constructor(code: string) {
    super(`Standard output cannot be written (${code}). Check the file or device that it goes to.`);
    this.code = code;
  }
}

/** Returns the process's own terminal. */
export function openTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  // Without a listener, an error of a stream would end the process, and `apply` would stop halfway.
  // `out` passes errors of standard output to its caller.
  for (const stream of [stdout, stderr]) stream.on("error", () => {});
  let isInputRead = false;
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => controller.abort(new Interrupted()));
  return {
    env,
    stopped: controller.signal,
    isOutputTerminal: stdout.isTTY === true,
    isInputTerminal: stdin.isTTY === true,
    out: (text) =>
      new Promise((written, failed) => {
        stdout.write(text, (error: NodeJS.ErrnoException | null | undefined) =>
          error ? failed(new OutputError(error.code ?? error.message)) : written(),
        );
      }),
    err: (text) => void stderr.write(text),
    async readInput(maxBytes) {
      if (isInputRead)
        throw new UsageError(
          "Standard input can be read only once. Name a file for the other use.",
        );
      isInputRead = true;
      return unlessStopped(readAll(stdin, maxBytes), controller.signal);
    },
  };
}

async function readAll(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new UsageError(`Standard input is longer than ${maxBytes} bytes. Shorten it.`);
    chunks.push(chunk);
  }
  return decodeUtf8(Buffer.concat(chunks), "Standard input");
}

/**
 * Returns the text of an input, with its byte order mark if it has one: the text is sent unchanged.
 * @param source what the bytes were read from, for the message
 * @throws UsageError if the bytes are not UTF-8
 */
export function decodeUtf8(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`${source} is not UTF-8. Convert it, for example with iconv.`);
  }
}

/**
 * Returns the result of work that cannot be aborted, or rejects when `stopped` aborts or if it has
 * aborted already.
 */
export async function unlessStopped<T>(work: Promise<T>, stopped: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(stopped.reason);
  // If Ctrl-C came before this call, the signal is aborted already and dispatches no further event.
  if (stopped.aborted) stop();
  else stopped.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([promise, work]);
  } finally {
    stopped.removeEventListener("abort", stop);
  }
}

/** The reason with which the signal `stopped` of a terminal aborts. */
export class Interrupted extends Error {}

/**
 * Returns a function for `catch` that adds a sentence to the error of Ctrl-C, and throws other
 * errors unchanged.
 * @param left a sentence that says what is left undone or continues, and what to do about it
 */
export function explainInterrupt(left: string): (thrown: unknown) => never {
  return (thrown) => {
    if (!(thrown instanceof Interrupted)) throw thrown;
    throw new CommandFailure("interrupted", exitCodes.interrupted, `Interrupted. ${left}`);
  };
}

/**
 * Returns a value as JSON for a terminal or a program. Also escapes the control characters U+007F
 * to U+009F, because a terminal interprets them and `JSON.stringify` escapes only those below
 * U+0020.
 */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(
    /[\x7f-\x9f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
}

/**
 * Returns text for a person. Control characters, except tab and newline, become U+FFFD on a
 * terminal, because output of a model could otherwise change what the terminal shows.
 */
export function shown(text: string, { isOutputTerminal }: Terminal): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are replaced.
  return isOutputTerminal ? text.replaceAll(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "\ufffd") : text;
}
