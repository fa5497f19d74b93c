import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ErrorCode } from "@beckon/contract";

/** What the parser found, by Node's code; anything else is 400. */
const found: {
  readonly [code: string]: readonly [status: string, code: ErrorCode, error: string];
} = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "too_large",
    "The headers are larger than 16 KiB. Send fewer or shorter ones.",
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    "413 Content Too Large",
    "too_large",
    "The chunk extensions are too large. Send chunks without them.",
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    "408 Request Timeout",
    "bad_request",
    "The request took too long to arrive: headers may take 20 seconds, all of it 60.",
  ],
};
const notHttp = [
  "400 Bad Request",
  "bad_request",
  "This is not a complete HTTP/1.1 request. Send one, and its whole body.",
] as const;
const tunnel = [
  "405 Method Not Allowed",
  "method_not_allowed",
  "This server opens no tunnels: it does not answer CONNECT.",
] as const;

/**
 * Answers what Node's parser does not make a request of, in the form of all our errors, and closes the connection. Node's own
 * answers have no body.
 */
export function answerMalformed(server: Server): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.prependListener("request", (incoming, outgoing) => latest.set(incoming.socket, outgoing));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const answer = latest.get(socket);
    // Nothing can be said into the middle of an answer, and nothing more about a request that has its answer.
    if (answer?.headersSent && !(answer.writableFinished && answer.req.complete)) socket.destroy();
    else respond(socket, found[error.code ?? ""] ?? notHttp);
  });
  server.on("connect", (_incoming, socket) => respond(socket, tunnel));
  // An expectation that is not understood may be ignored: what follows is a request like any other.
  server.on("checkExpectation", (incoming, outgoing) => server.emit("request", incoming, outgoing));
}

function respond(
  socket: Duplex,
  [status, code, error]: readonly [status: string, code: ErrorCode, error: string],
): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify({ ok: false, error, code });
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroy());
}
