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
 * Counts a response against the budget before it is sent.
 * @param characters the number of characters of the response that are in memory at a time.
 * @param hold returns the hold that counts the bytes. It is called only for a large response.
 * @param executed for a request that was executed: the sentence of the error's message that says
 *   so and what to do. Such an error has no `Retry-After`, because clients repeat every request that
 *   gets 503 with this header.
 * @returns the error that must be sent instead if the response does not fit into the budget:
 *   `too_large` if it never fits, else `unavailable`. Undefined if it fits, or if the client has
 *   disconnected, because then the response takes no memory.
 */
export function countResponse(
  characters: number,
  hold: () => ByteHold,
  outgoing: ServerResponse,
  executed?: string,
): ApiError | undefined {
  if (characters <= smallResponse || outgoing.destroyed) return undefined;
  const bytes = heldPerCharacter * characters;
  const held = hold();
  if (held.grow(bytes)) return undefined;
  return bytes > held.maxBytes ? tooLargeToSend(executed) : tooManyResponses(executed);
}

/**
 * Returns a function that counts a response that is sent in parts, as `countResponse` does. Call it
 * before the first part and again with each part, each time with the number of bytes that are in
 * memory then. The largest number stays counted until the response is sent.
 * @throws ApiError, by the returned function, if the bytes do not fit: `too_large` if they never
 *   fit, even if nothing else is in memory, else `unavailable`
 */
export function countStreamed(hold: ByteHold, outgoing: ServerResponse): (bytes: number) => void {
  let countedBytes = 0;
  return (bytes) => {
    const missing = heldPerCharacter * bytes - countedBytes;
    if (bytes <= smallResponse || missing <= 0 || outgoing.destroyed) return;
    if (heldPerCharacter * bytes > hold.maxBytes) throw tooLargeToSend();
    if (!hold.grow(missing)) throw tooManyResponses();
    countedBytes += missing;
  };
}

const askForLess =
  "Ask for less, for example with limit or view=summary, or ask the operator to raise " +
  "BECKON_MEMORY_BUDGET_MIB.";

/**
 * The code is not `unavailable`, because a retry cannot succeed.
 * @param executed as in `countResponse`
 */
function tooLargeToSend(executed = askForLess): ApiError {
  return new ApiError(
    "too_large",
    `The response is larger than the memory that this server has for it. ${executed}`,
  );
}

/** @param executed as in `countResponse` */
function tooManyResponses(executed?: string): ApiError {
  return new ApiError(
    "unavailable",
    `This server is sending as many large responses as it can hold. ${executed ?? "Ask again shortly."}`,
    executed === undefined ? { retryAfter: 1 } : {},
  );
}
