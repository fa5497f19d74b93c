import type { OutgoingMessage } from "node:http";
import { newId } from "../../base/ids.ts";

/** Response header with the id of the request. Clients quote it, operators find it in the log. */
export const requestIdHeader = "beckon-request-id";

/**
 * Returns a new request id. An id that the client sends is ignored, so that each id in the log
 * belongs to one request only.
 */
export function newRequestId(): string {
  return newId("rid");
}

/**
 * Sets a new request id as a header of Node's response, so that the response has the id regardless
 * of which code writes it.
 */
export function assignRequestId(outgoing: OutgoingMessage): void {
  outgoing.setHeader(requestIdHeader, newRequestId());
}

/** Returns the id that `assignRequestId` has set. */
export function requestIdOf(outgoing: OutgoingMessage): string {
  return String(outgoing.getHeader(requestIdHeader));
}
