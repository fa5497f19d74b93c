import type { IncomingMessage } from "node:http";
import { maxInputBytes } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";
import { ApiError } from "../../base/errors.ts";
import { ReceivedBodyHold, tooLarge } from "../../receiving/index.ts";
import type { Memory } from "../../runs/index.ts";
import { type BodyHold, type RawBody, readBody } from "../request/index.ts";

/**
 * The body of a request to a trigger. It is read once, even if the request is checked again because
 * the trigger's settings have changed.
 */
export class ReceivedBody {
  readonly #incoming: IncomingMessage;
  readonly #memory: Pick<Memory, "exchanges" | "bodies">;
  readonly #workspaceId: string;
  /** Counts the memory for a body that `readDefault` reads. */
  #defaultHold: ByteHold | undefined;
  /**
   * Counts the memory for a body that `read` reads, and for the bytes that decoding adds to a body,
   * also to one that `readDefault` has read.
   */
  #receivedHold: ReceivedBodyHold | undefined;
  #read: { readonly maxBytes: number; readonly body: Promise<RawBody> } | undefined;

  /** @param workspaceId the trigger's workspace, for which the bytes of the body are counted. */
  constructor(
    incoming: IncomingMessage,
    memory: Pick<Memory, "exchanges" | "bodies">,
    workspaceId: string,
  ) {
    this.#incoming = incoming;
    this.#memory = memory;
    this.#workspaceId = workspaceId;
  }

  /**
   * Returns the body of a request to a trigger without settings, or the error if it cannot be read.
   * @throws ApiError `unavailable` if the process cannot hold the body; also if an earlier call
   *   found a body without a Content-Length too large, and the trigger's limit was raised since
   */
  readDefault(): Promise<RawBody> {
    return this.#readWithin(maxInputBytes, () => {
      this.#defaultHold ??= this.#memory.exchanges.hold(this.#workspaceId);
      return this.#defaultHold;
    });
  }

  /**
   * Returns the body of a request to a trigger with settings, or the error if it cannot be read.
   * @param maxBytes the maximum size of the body according to the trigger's settings
   * @throws ApiError as `readDefault`
   */
  read(maxBytes: number): Promise<RawBody> {
    return this.#readWithin(maxBytes, () => this.#holdReceived());
  }

  /**
   * Reads the body at the first call. Later calls get the same body, which is then compared with
   * their `maxBytes`, because the limit can have changed. If the first call rejected the body for
   * its Content-Length, nothing of it was read, and a call with a higher limit reads it.
   * @throws ApiError `unavailable` if the first call found the body too large while it arrived, and
   *   the limit is higher now, because what had arrived was not kept
   */
  async #readWithin(maxBytes: number, hold: () => BodyHold): Promise<RawBody> {
    this.#read ??= { maxBytes, body: readBody(this.#incoming, hold, maxBytes) };
    const body = await this.#read.body;
    if (body.ok)
      return body.value.length <= maxBytes
        ? body
        : { ok: false, error: tooLarge(maxBytes), size: body.value.length };
    if (body.error.code !== "too_large" || maxBytes <= this.#read.maxBytes) return body;
    if (Number(this.#incoming.headers["content-length"] ?? 0) > this.#read.maxBytes) {
      this.#read = undefined;
      return this.#readWithin(maxBytes, hold);
    }
    throw new ApiError(
      "unavailable",
      "The settings of this trigger changed while the request arrived. Send it again.",
      { retryAfter: 1 },
    );
  }

  /**
   * Counts bytes that decoding adds to the body, for example by inflating it. Returns false if the
   * process cannot hold them now.
   * @throws ApiError `too_large` if it can never hold them
   */
  readonly growInflated = (bytes: number): boolean => this.#holdReceived().growBytes(bytes);

  /** Releases the memory. Must be called when the request no longer needs any part of the body. */
  release(): void {
    this.#defaultHold?.release();
    this.#receivedHold?.release();
  }

  #holdReceived(): ReceivedBodyHold {
    this.#receivedHold ??= new ReceivedBodyHold(this.#memory, this.#workspaceId);
    return this.#receivedHold;
  }
}
