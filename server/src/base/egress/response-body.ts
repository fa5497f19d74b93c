/** Bytes buffered for a slow reader before the connection is paused. */
const highWaterMark = 64 * 1024;

/** The HTTP request in flight, which the response body can pause, resume and abort. */
interface Source {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/**
 * A response body as a web stream. Bytes are passed on as they arrive, and the body is never
 * buffered as a whole. Cancelling the stream aborts the HTTP request.
 */
export class ResponseBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #source: Source;
  #chunks: Uint8Array[] = [];
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
    if (this.#chunks.push(chunk) === 1) queueMicrotask(() => this.#flush());
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
    const [first, ...more] = this.#chunks;
    if (this.#controller === undefined || first === undefined) return;
    this.#chunks = [];
    this.#controller.enqueue(more.length === 0 ? first : Buffer.concat([first, ...more]));
    if ((this.#controller.desiredSize ?? 0) <= 0) this.#source.pause();
  }
}
