import type { ServerResponse } from "node:http";
import type { ByteBudget, ByteHold } from "../../base/byte-budget.ts";
import { ApiError } from "../../base/errors.ts";

/**
 * Responses of at most this many characters do not count against the memory budget, because each
 * connection takes as much memory anyway.
 */
const smallResponse = 64 * 1024;

/**
 * Bytes of memory that are counted for each character of a response. They include the text, the
 * values from which it was built, and its UTF-8 bytes until the client has received these.
 */
const heldPerCharacter = 5;

/** If a client reads nothing of a large or streamed response for this long, it is disconnected. */
const stallMs = 60_000;

/**
 * Returns a hold, which counts the bytes of a request body and of its response against the budget
 * `exchanges`. The hold is released when the response is sent or the client has disconnected.
 * @param workspaceId the workspace that the bytes are counted for. `ByteBudget` limits the bytes of
 *   each workspace.
 */
export function holdExchange(
  exchanges: ByteBudget,
  workspaceId: string,
  outgoing: ServerResponse,
): ByteHold {
  const hold = exchanges.hold(workspaceId);
  outgoing.once("close", () => hold.release());
  if (outgoing.destroyed) hold.release();
  return hold;
}

/**
 * Counts a response against the budget before it is sent. A client that reads nothing of a large
 * response for a minute is disconnected.
 * @param characters the number of characters of the response that are in memory at a time.
 * @param hold returns the hold that counts the bytes. It is called only for a large response.
 * @returns false if the response does not fit into the budget. It must not be sent then. True if
 *   the client has disconnected, because such a response takes no memory.
 */
export function canSend(
  characters: number,
  hold: () => ByteHold,
  outgoing: ServerResponse,
): boolean {
  if (characters <= smallResponse || outgoing.destroyed) return true;
  disconnectStalled(outgoing);
  return hold().grow(heldPerCharacter * characters);
}

/**
 * Returns a function that counts a response that is sent in parts, as `canSend` does. It must be
 * called with the bytes that are in memory before the first part, and again with each part. The
 * largest number stays counted until the response is sent. A client that reads nothing for a minute
 * is disconnected, also if the response is small.
 * @throws ApiError `too_large`, by the returned function, if the bytes never fit, even if nothing
 *   else is in memory
 */
export function countStreamed(
  hold: ByteHold,
  outgoing: ServerResponse,
): (bytes: number) => boolean {
  disconnectStalled(outgoing);
  let countedBytes = 0;
  return (bytes) => {
    const missing = heldPerCharacter * bytes - countedBytes;
    if (bytes <= smallResponse || missing <= 0 || outgoing.destroyed) return true;
    if (heldPerCharacter * bytes > hold.maxBytes) throw tooLargeToSend();
    if (!hold.grow(missing)) return false;
    countedBytes += missing;
    return true;
  };
}

function disconnectStalled(outgoing: ServerResponse): void {
  outgoing.setTimeout(stallMs, () => outgoing.destroy());
}

/** The code is not `unavailable`, because a retry cannot succeed. */
function tooLargeToSend(): ApiError {
  return new ApiError(
    "too_large",
    "The response is larger than the memory that this server has for it. " +
      "Ask for less, or ask the operator to raise BECKON_MEMORY_BUDGET_MIB.",
  );
}

/**
 * Returns the 503 error for a response that does not fit into the budget `exchanges`.
 * @param executed for a request that was executed: the sentence of the message that says so. The
 *   response then has no `Retry-After`, because clients repeat every request that gets 503 with
 *   this header.
 */
export function tooManyResponses(executed?: string): ApiError {
  return new ApiError(
    "unavailable",
    `This server is sending as many large responses as it can hold. ${executed ?? "Ask again shortly."}`,
    executed === undefined ? { retryAfter: 1 } : {},
  );
}
