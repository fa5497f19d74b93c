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
  #gathered: Uint8Array[] = [];
  readonly #lines: boolean;
  #last = 0;
  /** undefined once the stream has ended, whichever way. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  /**
   * `lines`: the body is one of lines, an event stream, which may end them by CR alone. A reader cannot tell the last such CR from
   * the first half of CRLF, and would wait for the rest for ever: it gets the LF when the body ends.
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
            reason instanceof Error ? reason : new Error("the reader left", { cause: reason }),
          );
        },
      },
      { highWaterMark, size: (chunk) => chunk.byteLength },
    );
  }

  /**
   * Takes one piece. Pieces of one read of the socket are given on as one: a provider's words come as many small pieces, and
   * each costs its reader several promises.
   */
  add(chunk: Uint8Array): void {
    if (this.#controller === undefined) return;
    this.#last = chunk.at(-1) ?? this.#last;
    if (this.#gathered.push(chunk) === 1) queueMicrotask(() => this.#giveOn());
  }

  end(): void {
    if (this.#lines && this.#last === 13) this.add(new Uint8Array([10]));
    this.#giveOn();
    this.#controller?.close();
    this.#controller = undefined;
  }

  fail(reason: unknown): void {
    this.#controller?.error(reason);
    this.#controller = undefined;
  }

  #giveOn(): void {
    const [first, ...more] = this.#gathered;
    if (this.#controller === undefined || first === undefined) return;
    this.#gathered = [];
    this.#controller.enqueue(more.length === 0 ? first : Buffer.concat([first, ...more]));
    if ((this.#controller.desiredSize ?? 0) <= 0) this.#source.pause();
  }
}
