import { createServer, type Server } from "node:http";
import { isIPv6, Server as NetServer } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { sleep } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { listenError } from "../base/listen-error.ts";
import { createApp } from "./app.ts";
import { errorResponse } from "./errors.ts";
import { logRequests } from "./log-requests.ts";
import { answerMalformed } from "./malformed.ts";
import { newRequestId } from "./request/index.ts";
import type { Services } from "./services.ts";
import { traceRequests } from "./trace-requests.ts";

export interface Listening {
  /** URL at which the server can be opened on this machine. */
  readonly url: string;
  /**
   * Stops accepting connections, closes each connection when it becomes idle, and two seconds later
   * closes the rest.
   */
  close(): Promise<void>;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /**
   * Descriptor of a socket that is already bound to `host` and `port`. Several processes can accept
   * connections from it. If undefined, the server binds its own socket.
   */
  readonly fd?: number | undefined;
}

/** Maximum number of connections that wait to be accepted. */
const backlog = 4_096;

/**
 * Starts the HTTP server.
 * @throws ConfigError if the address is in use or cannot be bound.
 */
export async function listen(services: Services, address: ListenAddress): Promise<Listening> {
  const app = createApp(services);
  const handle = getRequestListener(app.fetch, {
    // The app responds to every `Error` that a route throws. This handler gets the rest: URLs that
    // do not parse, and thrown values that are not an `Error`. It does not get the request, so it
    // creates a new request id.
    errorHandler: (thrown) =>
      errorResponse(thrown instanceof RequestError ? invalidUrl() : thrown, {
        log: services.log,
        route: "none",
        requestId: newRequestId(),
      }),
  });
  const server = createServer(
    {
      // A client that needs more than a minute to send its request (1 MiB at 17 kB/s) gets a 408,
      // because it would occupy its connection too long.
      requestTimeout: 60_000,
      headersTimeout: 20_000,
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16_384,
      // Node would reject a request without Host with an empty response. The app responds with
      // JSON.
      requireHostHeader: false,
    },
    handle,
  );
  answerMalformed(server, logRequests(server, services));
  traceRequests(server, services);
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

/**
 * Returns the host for the server's URL. If the server listens on the unspecified address
 * (`0.0.0.0` or `::`), which browsers do not open, this is the loopback address.
 */
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

/**
 * Wait during which connections and requests that have already reached this machine are accepted
 * and read.
 */
const arrivalMs = 250;

/**
 * Closes the server without losing requests that are on their way. When this is called, starts are
 * already rejected with 503, and new clients are no longer sent to this process. Closing the
 * listener at once would reset connections that are not accepted yet. Closing idle connections at
 * once would cut off requests that have arrived but are not read yet. In both cases the client
 * could not know whether its request had an effect. The function therefore waits before each of
 * these two steps. It calls `close` of the TCP server, because `close` of Node's HTTP server also
 * closes idle connections.
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
