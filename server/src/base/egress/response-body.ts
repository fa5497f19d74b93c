/** Bytes kept for a slow reader before the connection is told to wait. */
const highWaterMark = 64 * 1024;

/** The exchange as a body sees it: it can be slowed down and given up. */
interface Source {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** A response's body as a web stream: fed as bytes arrive, never buffered whole, the exchange aborted when its reader leaves. */
export class ResponseBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #source: Source;
  /** undefined once the stream has ended, whichever way. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(source: Source) {
    this.#source = source;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => source.resume(),
        cancel: (reason) => {
          this.#controller = undefined;
          source.abort(reason instanceof Error ? reason : new Error("the reader left", { cause: reason }));
        },
      },
      { highWaterMark, size: (chunk) => chunk.byteLength },
    );
  }

  add(chunk: Uint8Array): void {
    if (this.#controller === undefined) return;
    this.#controller.enqueue(chunk);
    if ((this.#controller.desiredSize ?? 0) <= 0) this.#source.pause();
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  fail(reason: unknown): void {
    this.#controller?.error(reason);
    this.#controller = undefined;
  }
}
