import { createServer, type Server } from "node:http";
import { isIPv6, Server as NetServer } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { sleep } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { listenError } from "../base/listen-error.ts";
import { createApp } from "./app.ts";
import { errorResponse } from "./errors.ts";
import { answerMalformed } from "./malformed.ts";
import { newRequestId } from "./request/index.ts";
import type { Services } from "./services.ts";

export interface Listening {
  /** Can be opened on this machine. */
  readonly url: string;
  /**
   * Stops accepting connections and closes idle ones as they become idle; after two seconds it
   * closes the rest.
   */
  close(): Promise<void>;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** Descriptor of a socket that is bound already; several processes can accept from it. */
  readonly fd?: number | undefined;
}

/** Connections that wait to be accepted. */
const backlog = 4_096;

/**
 * Starts the HTTP server.
 * @throws ConfigError if the address is in use or cannot be bound.
 */
export async function listen(services: Services, address: ListenAddress): Promise<Listening> {
  const app = createApp(services);
  const handle = getRequestListener(app.fetch, {
    // The app handles every Error of a route. Left are URLs that do not parse, and thrown values
    // that are no Error; neither comes with its request, hence an id of its own.
    errorHandler: (thrown) =>
      errorResponse(thrown instanceof RequestError ? invalidUrl() : thrown, {
        log: services.log,
        route: "none",
        requestId: newRequestId(),
      }),
  });
  const server = createServer(
    {
      // A slower client than 17 kB/s (1 MiB in a minute) would hold its connection too long.
      requestTimeout: 60_000,
      headersTimeout: 20_000,
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16_384,
      // Node's own response to a missing Host has no body.
      requireHostHeader: false,
    },
    handle,
  );
  answerMalformed(server);
  await new Promise<void>((resolve, reject) => {
    const { fd, ...given } = address;
    server.once("error", (error) => reject(listenError(error, given)));
    if (fd === undefined) server.listen({ ...given, backlog }, resolve);
    else server.listen({ fd }, backlog, resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("a TCP server has an address");
  return {
    url: `http://${openableHost(address.host, bound.address)}:${bound.port}`,
    close: () => closeServer(server),
  };
}

/** Returns the loopback address for the unspecified one, which browsers do not open. */
function openableHost(host: string, bound: string): string {
  if (bound === "0.0.0.0") return "127.0.0.1";
  if (bound === "::") return "[::1]";
  return isIPv6(host) ? `[${host}]` : host;
}

function invalidUrl(): ApiError {
  return new ApiError(
    "bad_request",
    "The request's path and Host header do not make a URL. Send both, each properly encoded.",
  );
}

/** Milliseconds in which what has reached this machine is accepted and read. */
const arrivalMs = 250;

/**
 * Closes the server without losing requests that are on their way. Starts are rejected with 503 by
 * now, and nobody sends new clients here. Closing the listener at once would reset connections that
 * are not accepted yet, and closing idle connections at once those whose request is not read yet:
 * their clients could not know whether the request had an effect. Hence the two waits, and the
 * `close` of the TCP server: that of Node's HTTP server also closes idle connections.
 */
async function closeServer(server: Server): Promise<void> {
  await sleep(arrivalMs);
  const closed = new Promise<void>((resolve) =>
    NetServer.prototype.close.call(server, () => resolve()),
  );
  await sleep(arrivalMs);
  server.close();
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const all = setTimeout(() => server.closeAllConnections(), 2_000);
  await closed;
  clearInterval(idle);
  clearTimeout(all);
}
