import type { IncomingMessage } from "node:http";
import type { ByteBudget, ByteHold } from "../../base/byte-budget.ts";
import { ApiError } from "../../base/errors.ts";
import { type RawBody, readBody } from "../request/index.ts";

/**
 * The body of a request to a trigger. It is read once, also if the request is checked again because
 * the trigger's settings have changed.
 */
export class ReceivedBody {
  readonly #incoming: IncomingMessage;
  readonly #budget: ByteBudget;
  readonly #owner: string;
  #hold: ByteHold | undefined;
  #read: { readonly maxBytes: number; readonly body: Promise<RawBody> } | undefined;

  /** @param owner who the bytes are counted for: see `ByteBudget`. */
  constructor(incoming: IncomingMessage, budget: ByteBudget, owner: string) {
    this.#incoming = incoming;
    this.#budget = budget;
    this.#owner = owner;
  }

  /**
   * Returns the body, or the error for which it cannot be read.
   * @throws ApiError `unavailable` if the process cannot hold the body, or if the body was larger
   *   than the trigger accepted at first and now accepts
   */
  async read(maxBytes: number): Promise<RawBody> {
    this.#read ??= { maxBytes, body: readBody(this.#incoming, () => this.#held(), maxBytes) };
    const body = await this.#read.body;
    if (!body.ok && body.error.code === "too_large" && maxBytes > this.#read.maxBytes)
      throw new ApiError(
        "unavailable",
        "The settings of this trigger changed while the request arrived. Send it again.",
        { retryAfter: 1 },
      );
    return body;
  }

  /** Counts more bytes that the body uses. Returns false if the process cannot hold them. */
  readonly grow = (bytes: number): boolean => this.#held().grow(bytes);

  /** Releases the memory, when nothing of the body is kept any more. */
  release(): void {
    this.#hold?.release();
  }

  #held(): ByteHold {
    this.#hold ??= this.#budget.hold(this.#owner);
    return this.#hold;
  }
}
