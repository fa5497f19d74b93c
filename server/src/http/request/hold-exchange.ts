import type { ServerResponse } from "node:http";
import type { ByteBudget, ByteHold } from "../../base/byte-budget.ts";
import { ApiError } from "../../base/errors.ts";

/** Characters of a response that are not counted: its connection takes as much. */
const smallResponse = 64 * 1024;

/**
 * Bytes of memory for each character of a response: the text, what it was made of, and its UTF-8
 * until the caller has taken it.
 */
const heldPerCharacter = 5;

/** A client that reads nothing of a large response for this long is disconnected. */
const stallMs = 60_000;

/**
 * Counts the bytes of a request body and of its response until the response is sent or the client
 * has disconnected.
 */
export function holdExchange(
  exchanges: ByteBudget,
  owner: string,
  outgoing: ServerResponse,
): ByteHold {
  const hold = exchanges.hold(owner);
  outgoing.once("close", () => hold.release());
  if (outgoing.destroyed) hold.release();
  return hold;
}

/**
 * Counts a response before it is sent. A client that does not read it is disconnected.
 * @returns false if the process cannot hold another large response: this one must not be sent.
 */
export function canSend(text: string, hold: () => ByteHold, outgoing: ServerResponse): boolean {
  if (text.length <= smallResponse) return true;
  outgoing.setTimeout(stallMs, () => outgoing.destroy());
  return hold().grow(heldPerCharacter * text.length);
}

/** The 503 for a response that does not fit into the memory set aside for responses. */
export function tooManyResponses(what = "Ask again shortly."): ApiError {
  return new ApiError(
    "unavailable",
    `This server is sending as many large responses as it can hold. ${what}`,
    { retryAfter: 1 },
  );
}
