import type { IncomingMessage } from "node:http";
import type { ByteHold } from "../../base/byte-budget.ts";
import { ApiError } from "../../base/errors.ts";
import { ReceivedBodyHold } from "../../receiving/index.ts";
import { type Caller, callerId, type Memory } from "../../runs/index.ts";
import { type RawBody, readBody } from "../request/index.ts";

/** Maximum size of the body of a request to a trigger without settings: 1 MiB. */
const defaultMaxBytes = 1_048_576;

/**
 * The body of a request to a trigger. It is read once, even if the request is checked again because
 * the trigger's settings have changed.
 */
export class ReceivedBody {
  readonly #incoming: IncomingMessage;
  readonly #memory: Memory;
  readonly #caller: Caller;
  #hold: ByteHold | ReceivedBodyHold | undefined;
  #read: { readonly maxBytes: number; readonly body: Promise<RawBody> } | undefined;

  /** @param caller for whom the bytes are counted */
  constructor(incoming: IncomingMessage, memory: Memory, caller: Caller) {
    this.#incoming = incoming;
    this.#memory = memory;
    this.#caller = caller;
  }

  /**
   * Returns the body of a request to a trigger without settings, or the error for which it cannot
   * be read.
   * @throws ApiError `unavailable` if the process cannot hold the body
   */
  readDefault(): Promise<RawBody> {
    const hold = () => {
      this.#hold ??= this.#memory.exchanges.hold(callerId(this.#caller));
      return this.#hold;
    };
    this.#read ??= { maxBytes: defaultMaxBytes, body: readBody(this.#incoming, hold) };
    return this.#read.body;
  }

  /**
   * Like `readDefault`, for a trigger with settings.
   * @throws ApiError `unavailable` including when the body was larger than the trigger accepted
   *   when the request arrived, but is within the limit of its current settings
   */
  async read(maxBytes: number): Promise<RawBody> {
    this.#read ??= {
      maxBytes,
      body: readBody(this.#incoming, () => this.#receivedHold(), maxBytes),
    };
    const body = await this.#read.body;
    if (!body.ok && body.error.code === "too_large" && maxBytes > this.#read.maxBytes)
      throw new ApiError(
        "unavailable",
        "The settings of this trigger changed while the request arrived. Send it again.",
        { retryAfter: 1 },
      );
    return body;
  }

  /** Counts bytes of the inflated body. Returns false if the process cannot hold them. */
  readonly growInflated = (bytes: number): boolean => {
    const hold = this.#receivedHold();
    return hold instanceof ReceivedBodyHold ? hold.growBytes(bytes) : hold.grow(bytes);
  };

  /** Releases the memory. Call it once no part of the body is kept. */
  release(): void {
    this.#hold?.release();
  }

  #receivedHold(): ByteHold | ReceivedBodyHold {
    this.#hold ??= new ReceivedBodyHold(this.#memory, callerId(this.#caller));
    return this.#hold;
  }
}
