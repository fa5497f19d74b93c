import type { Dispatcher } from "undici";
import { codingsOf, Exchange, type Head } from "./exchange.ts";
import { joined } from "./whole-exchange.ts";

/** A response of which only the beginning of the body matters. */
export interface ResponseBeginning {
  readonly status: number;
  /** Lower-case names. Several values of one name are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first bytes of the body, decoded as UTF-8; empty if the body has a content encoding. */
  readonly text: string;
}

export interface BeginningLimits {
  /** Maximum bytes to read. If the body is longer, the connection is closed. */
  readonly maxReadBytes: number;
  /** Maximum bytes to return. */
  readonly maxKeptBytes: number;
}

/**
 * An exchange that resolves with the response's head and the beginning of its body, as soon as the
 * body has ended or is longer than `maxReadBytes`. It also resolves if the body fails or the time
 * limit is reached after the head has arrived, so the caller gets the status even if the body never
 * ends.
 */
export class BeginningExchange extends Exchange<ResponseBeginning> {
  protected override readonly acceptsEncoded = true;
  readonly #beginning: BeginningLimits;
  #head: Head | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Buffer[] = [];
  #keptBytes = 0;
  #readBytes = 0;

  constructor(
    beginning: BeginningLimits,
    ...rest: ConstructorParameters<typeof Exchange<ResponseBeginning>>
  ) {
    super(...rest);
    this.#beginning = beginning;
  }

  protected begin(head: Head, controller: Dispatcher.DispatchController): void {
    this.#head = head;
    this.#controller = controller;
  }

  protected take(chunk: Buffer): void {
    const { maxReadBytes, maxKeptBytes } = this.#beginning;
    this.#readBytes += chunk.length;
    if (this.#keptBytes < maxKeptBytes) {
      // A copy, because a part of a chunk keeps the memory of the whole chunk.
      const kept = Buffer.from(chunk.subarray(0, maxKeptBytes - this.#keptBytes));
      this.#keptBytes += kept.length;
      this.#chunks.push(kept);
    }
    if (this.#readBytes <= maxReadBytes) return;
    this.finish();
    this.#controller?.abort(new Error("the response body is longer than what is read of it"));
  }

  protected finish(): void {
    if (this.#head === undefined) return;
    const { status, headers } = this.#head;
    const isEncoded = codingsOf(headers["content-encoding"]).length > 0;
    // `stream: true` omits a final character of which only the first bytes were kept.
    const text = isEncoded
      ? ""
      : new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: true });
    this.#head = undefined;
    this.#chunks = [];
    this.resolve({ status, headers: joined(headers), text });
  }

  protected fail(): void {}

  protected override beforeFailure(): void {
    this.finish();
  }
}
