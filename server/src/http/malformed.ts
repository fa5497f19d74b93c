import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ErrorCode } from "@beckon/contract";
import { newRequestId, reportOf, requestIdHeader, requestIdOf } from "./request/index.ts";

type ParserError = readonly [status: string, code: ErrorCode, error: string];

/** Responses by the error code of Node's HTTP parser. Every other code gets `invalidHttp`. */
const parserErrors: { readonly [code: string]: ParserError } = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "too_large",
    "The headers are larger than 16 KiB. Send fewer or shorter ones.",
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    "413 Content Too Large",
    "too_large",
    "The chunk extensions are too large. Send chunks without extensions.",
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    "408 Request Timeout",
    "bad_request",
    "The request arrived too slowly, or Beckon is stopping. Send the headers within 20 seconds, and all of it within 60.",
  ],
};
const invalidHttp: ParserError = [
  "400 Bad Request",
  "bad_request",
  "This is not a complete HTTP/1.1 request. Send one with its whole body.",
];
const connectMethod: ParserError = [
  "405 Method Not Allowed",
  "method_not_allowed",
  "This server is no proxy and does not support CONNECT. Send the request itself.",
];

/**
 * Sends a JSON error for requests that Node's HTTP parser rejects, because Node's own responses to
 * these have no body.
 * @param onRejected logs and counts a rejected request for which Node emits no event `request`
 */
export function answerMalformed(
  server: Server,
  onRejected: (status: number, requestId: string) => void,
): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  /**
   * Maps the latest response of each connection to the response before it, if that was still
   * pending when the latest request arrived. The entry of the older response is deleted. Otherwise
   * pipelined responses would form a chain that keeps all of them in memory.
   */
  const earlier = new WeakMap<ServerResponse, ServerResponse>();
  /** Connections that end after the response to their last complete request. */
  const ending = new WeakSet<Duplex>();
  server.prependListener("request", (incoming, outgoing) => {
    const before = latest.get(incoming.socket);
    if (before !== undefined) {
      earlier.delete(before);
      if (!before.writableFinished) earlier.set(outgoing, before);
    }
    latest.set(incoming.socket, outgoing);
  });
  /**
   * If the response to a complete request is pending, returns true, and closes the connection after
   * this response. The client would take an error that is sent now for this response, although the
   * request can have started a run. Returns false if no such response is pending.
   */
  function endsAfterPending(socket: Duplex): boolean {
    // Node reports an error again for each further chunk.
    if (ending.has(socket)) return true;
    const outgoing = latest.get(socket);
    const pending = outgoing?.req.complete ? outgoing : outgoing && earlier.get(outgoing);
    if (pending === undefined || pending.writableFinished) return false;
    ending.add(socket);
    pending.shouldKeepAlive = false;
    pending.once("close", () => socket.destroy());
    return true;
  }
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // Node also reports a connection that the client has reset. Such a request is not malformed,
    // and no response can be sent.
    if (!socket.writable) return void socket.destroy();
    if (endsAfterPending(socket)) return;
    const outgoing = latest.get(socket);
    // The response to the request whose body is malformed; undefined if the malformed bytes do not
    // belong to a request.
    const rejected = outgoing?.req.complete ? undefined : outgoing;
    // If this response has begun, the client would read an error as part of it. So the connection
    // is closed instead.
    if (rejected?.headersSent) return void socket.destroy();
    const parserError = parserErrors[error.code ?? ""] ?? invalidHttp;
    const status = Number.parseInt(parserError[0], 10);
    const requestId = rejected === undefined ? newRequestId() : requestIdOf(rejected);
    if (rejected === undefined) onRejected(status, requestId);
    else reportOf(rejected.req).status = status;
    respond(socket, parserError, requestId);
  });
  server.on("connect", (incoming, socket) => {
    // Node has removed its own listeners from this socket. If the client resets the connection, an
    // error event without a listener would end the process.
    socket.on("error", () => {});
    if (endsAfterPending(incoming.socket)) return;
    const requestId = newRequestId();
    onRejected(405, requestId);
    respond(socket, connectMethod, requestId);
  });
  // A server can ignore an unknown `Expect` header (RFC 9110, 10.1.1), so the request is handled
  // like any other. Without this listener Node would respond with 417.
  server.on("checkExpectation", (incoming, outgoing) => server.emit("request", incoming, outgoing));
}

function respond(socket: Duplex, [status, code, error]: ParserError, requestId: string): void {
  const body = JSON.stringify({ ok: false, error, code });
  const head = [
    `HTTP/1.1 ${status}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    `${requestIdHeader}: ${requestId}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
