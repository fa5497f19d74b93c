import { GrowingBuffer } from "./growing-buffer.ts";

/** Bytes buffered for a slow reader before the connection is paused. */
const highWaterMark = 64 * 1024;

/** Bytes of a body, other than an event stream, that are collected before they are passed on. */
const blockBytes = 16 * 1024;

/** The HTTP request in flight, which the response body can pause, resume and abort. */
interface Source {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/**
 * A response body as a web stream, which is never buffered as a whole. The bytes of an event stream
 * are passed on as they arrive. Those of another body are passed on in blocks: its readers keep the
 * chunks until the body ends, and the object of a chunk takes far more memory than one byte.
 * Cancelling the stream aborts the HTTP request.
 */
export class ResponseBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #source: Source;
  /** Bytes that are not passed on yet. */
  readonly #waiting = new GrowingBuffer();
  #flushes = false;
  readonly #lines: boolean;
  #last = 0;
  /** undefined once the stream has ended, failed or been cancelled. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  /**
   * @param options.lines whether the body is an event stream, whose lines may end with CR alone. A
   *   parser cannot distinguish a final CR from the first half of CRLF and would wait for the LF,
   *   so an LF is added when the body ends with CR.
   */
  constructor(source: Source, { lines }: { readonly lines: boolean }) {
    this.#source = source;
    this.#lines = lines;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => source.resume(),
        cancel: (reason) => {
          this.#controller = undefined;
          source.abort(
            reason instanceof Error
              ? reason
              : new Error("the reader cancelled the response body", { cause: reason }),
          );
        },
      },
      { highWaterMark, size: (chunk) => chunk.byteLength },
    );
  }

  /**
   * Adds a chunk. Chunks of one socket read are joined and passed on as one: a provider streams
   * many small chunks, and each chunk that is passed on costs the reader several promises.
   */
  add(chunk: Uint8Array): void {
    if (this.#controller === undefined) return;
    this.#last = chunk.at(-1) ?? this.#last;
    this.#waiting.add(chunk);
    if (this.#flushes || (!this.#lines && this.#waiting.length < blockBytes)) return;
    this.#flushes = true;
    queueMicrotask(() => this.#flush());
  }

  end(): void {
    if (this.#lines && this.#last === 13) this.add(new Uint8Array([10]));
    this.#flush();
    this.#controller?.close();
    this.#controller = undefined;
  }

  fail(reason: unknown): void {
    this.#controller?.error(reason);
    this.#controller = undefined;
  }

  #flush(): void {
    this.#flushes = false;
    if (this.#controller === undefined || this.#waiting.length === 0) return;
    this.#controller.enqueue(this.#waiting.take());
    if ((this.#controller.desiredSize ?? 0) <= 0) this.#source.pause();
  }
}
