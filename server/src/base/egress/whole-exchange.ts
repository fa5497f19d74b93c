import { Exchange, type Head, isBodiless } from "./exchange.ts";

export interface WholeAnswer {
  readonly status: number;
  /** Names in small letters; values of one name joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as UTF-8, read as `Response.text()` would. */
  readonly text: string;
}

const decoder = new TextDecoder();
const nothing: Buffer = Buffer.alloc(0);

/** Answers once all of the body has come. */
export class WholeExchange extends Exchange<WholeAnswer> {
  #head: Head | undefined;
  #bytes = nothing;
  #length = 0;

  protected begin(head: Head): void {
    this.#head = head;
    if (isBodiless(head.status)) this.finish();
  }

  /**
   * The usual body comes as one piece and is kept as it is. Further ones are copied to where there is room for as many again: a
   * body of single bytes, each kept as an object, would take a hundred times its size.
   */
  protected take(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#bytes = chunk;
    } else {
      if (length > this.#bytes.length) {
        const roomier = Buffer.allocUnsafe(2 * length);
        this.#bytes.copy(roomier, 0, 0, this.#length);
        this.#bytes = roomier;
      }
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  protected finish(): void {
    if (this.#head === undefined) return;
    const { status, headers } = this.#head;
    const text = decoder.decode(this.#bytes.subarray(0, this.#length));
    this.breakOff();
    this.resolve({ status, headers: joined(headers), text });
  }

  protected breakOff(): void {
    this.#bytes = nothing;
    this.#length = 0;
  }
}

function joined(headers: Head["headers"]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) all[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return all;
}
