import type { OutgoingMessage } from "node:http";
import { newId } from "../../base/ids.ts";

/** Response header with the id of the request. Clients quote it, operators find it in the log. */
export const requestIdHeader = "beckon-request-id";

/**
 * Returns a new request id. An id that the client sends is not used: the log must be unambiguous.
 */
export function newRequestId(): string {
  return newId("rid");
}

/** Sets the request id, so that every response has it, however it is written. */
export function assignRequestId(outgoing: OutgoingMessage): void {
  outgoing.setHeader(requestIdHeader, newRequestId());
}

/** Returns the id that `assignRequestId` has set. */
export function requestIdOf(outgoing: OutgoingMessage): string {
  return String(outgoing.getHeader(requestIdHeader));
}
