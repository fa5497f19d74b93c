import { Exchange, type Head, isBodiless } from "./exchange.ts";
import { GrowingBuffer } from "./growing-buffer.ts";

export interface WholeResponse {
  readonly status: number;
  /** Lower-case names. Several values of one name are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, decoded as UTF-8 like `Response.text()`. */
  readonly text: string;
}

const decoder = new TextDecoder();

/** An exchange that resolves when the whole body has arrived. */
export class WholeExchange extends Exchange<WholeResponse> {
  #head: Head | undefined;
  readonly #body = new GrowingBuffer();

  protected begin(head: Head): void {
    this.#head = head;
    if (isBodiless(head.status)) this.finish();
  }

  protected take(chunk: Buffer): void {
    this.#body.add(chunk);
  }

  protected finish(): void {
    if (this.#head === undefined) return;
    const { status, headers } = this.#head;
    const text = decoder.decode(this.#body.take());
    this.resolve({ status, headers: joined(headers), text });
  }

  protected fail(): void {
    this.#body.take();
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
