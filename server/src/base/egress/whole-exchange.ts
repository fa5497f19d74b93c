import { Exchange, type Head, isBodiless } from "./exchange.ts";

export interface WholeResponse {
  readonly status: number;
  /** Lower-case names. Several values of one name are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, decoded as UTF-8 like `Response.text()`. */
  readonly text: string;
}

const decoder = new TextDecoder();
const nothing: Buffer = Buffer.alloc(0);

/** An exchange that resolves when the whole body has arrived. */
export class WholeExchange extends Exchange<WholeResponse> {
  #head: Head | undefined;
  #bytes = nothing;
  #length = 0;

  protected begin(head: Head): void {
    this.#head = head;
    if (isBodiless(head.status)) this.finish();
  }

  /**
   * Appends a chunk. Most bodies arrive as one chunk, which is kept without a copy. More chunks are
   * copied into a buffer that doubles: keeping an object per chunk would take a hundred times the
   * size of a body that arrives byte by byte.
   */
  protected take(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#bytes = chunk;
    } else {
      if (length > this.#bytes.length) {
        const larger = Buffer.allocUnsafe(2 * length);
        this.#bytes.copy(larger, 0, 0, this.#length);
        this.#bytes = larger;
      }
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  protected finish(): void {
    if (this.#head === undefined) return;
    const { status, headers } = this.#head;
    const text = decoder.decode(this.#bytes.subarray(0, this.#length));
    this.fail();
    this.resolve({ status, headers: joined(headers), text });
  }

  protected fail(): void {
    this.#bytes = nothing;
    this.#length = 0;
  }
}

/** Returns the headers, several values of one name joined with commas. */
export function joined(headers: Head["headers"]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) all[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return all;
}
