import { createServer, type Server, type ServerResponse } from "node:http";
import { isIPv6, Server as NetServer, type Socket } from "node:net";
import { setImmediate as nextImmediate } from "node:timers/promises";
import { getRequestListener, RequestError } from "@hono/node-server";
import { elapsed, sleep } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { listenError } from "../base/listen-error.ts";
import { createApp } from "./app.ts";
import { errorResponse } from "./errors.ts";
import { logRequests } from "./log-requests.ts";
import { answerMalformed } from "./malformed.ts";
import { IdentifiedResponse, newRequestId } from "./request/index.ts";
import type { Services } from "./services.ts";
import { traceRequests } from "./trace-requests.ts";

export interface Listening {
  /** URL at which the server can be opened on this machine. */
  readonly url: string;
  /**
   * Makes clients and proxies send their next requests to another server, in three steps:
   * - For `drainDelayMs` nothing changes, so that load balancers notice the 503 of `/readyz`.
   * - Then the server accepts no more connections. If a proxy's connection is refused, it has sent
   *   no request yet and can safely try the next server.
   * - For up to `drainDelayMs` more, each open connection is closed after its next response. After
   *   that, connections are closed as soon as they are idle.
   *
   * Does nothing if `drainDelayMs` is 0.
   */
  divertRequests(): Promise<void>;
  /**
   * Stops accepting connections and closes idle ones. Each later response closes its connection.
   * For up to `maxWaitMs`, but at least for the limit `closeMs`, waits until all pending responses
   * are sent. Then closes their connections, too. Connections without a request are closed after
   * `closeMs`. Requests that are still incomplete then get a 408.
   */
  close(maxWaitMs: number): Promise<void>;
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

/** Time limits of connections, in milliseconds. A connection that exceeds one is closed. */
export interface ConnectionLimits {
  /**
   * Time for the headers of a request. It begins when the connection is opened or, for a later
   * request on the connection, with its first byte.
   */
  readonly headersMs: number;
  /**
   * Time for a whole request. Slower clients would occupy their connections for too long. The
   * default is enough for 1 MiB at 18 kB/s.
   */
  readonly requestMs: number;
  /**
   * Time for which an idle connection is kept. Longer than the 60 to 120 s of common proxies, so
   * that the proxy closes it first. If the server closed it, a request that the proxy is sending
   * could fail.
   */
  readonly keepAliveMs: number;
  /**
   * Time after which a client that reads nothing of a response is disconnected. Until then, the
   * response stays in memory.
   */
  readonly stallMs: number;
  /**
   * Time between two checks of `headersMs` and `requestMs`. With Node's default of 30 seconds, a
   * connection with slow headers would stay open for up to 50 seconds.
   */
  readonly checkMs: number;
  /**
   * Time that `divertRequests` waits before it accepts no more connections, and the maximum that it
   * waits after that. If it is 0, `divertRequests` does nothing.
   */
  readonly drainDelayMs: number;
  /**
   * Time after which `close` closes connections without a request and ends incomplete requests. The
   * minimum for which it waits for pending responses.
   */
  readonly closeMs: number;
}

/** The limits of connections in production. */
export const defaultConnectionLimits: ConnectionLimits = {
  headersMs: 20_000,
  requestMs: 60_000,
  keepAliveMs: 130_000,
  stallMs: 60_000,
  checkMs: 2_000,
  drainDelayMs: 0,
  closeMs: 2_000,
};

/**
 * Node calls this for the current response of a connection on which nothing was sent or received
 * for `stallMs`. The connection is kept if nothing waits to be read, because the response can be
 * one that waits for a run. Without this listener, Node would close such connections too.
 */
function disconnectIfStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/** Maximum number of connections that wait to be accepted. */
const backlog = 4_096;

/**
 * Starts the HTTP server. `ownLimits` replace the defaults.
 * @throws ConfigError if the address is in use or cannot be bound.
 */
export async function listen(
  services: Services,
  address: ListenAddress,
  ownLimits: Partial<ConnectionLimits> = {},
): Promise<Listening> {
  const limits = { ...defaultConnectionLimits, ...ownLimits };
  const app = createApp(services);
  // The app responds to every `Error` that a route throws. This handler gets the rest: URLs that
  // do not parse, and thrown values that are not an `Error`. It does not get the request, so it
  // creates a new request id.
  const errorHandler = (thrown: unknown) =>
    errorResponse(thrown instanceof RequestError ? invalidUrl() : thrown, {
      log: services.log,
      route: "none",
      requestId: newRequestId(),
    });
  const handle = getRequestListener(app.fetch, { errorHandler });
  // HTTP/1.0 does not require Host, and HAProxy's health checks omit it. This host replaces it in
  // the URL but not in the headers, so `requireOwnSite` still rejects sessions without Host.
  const handleHttp10 = getRequestListener(app.fetch, { errorHandler, hostname: "host.invalid" });
  const server = createServer(
    {
      ServerResponse: IdentifiedResponse,
      // A request that takes longer gets a 408.
      requestTimeout: limits.requestMs,
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: 16_384,
      // Node would reject an HTTP/1.1 request without Host with an empty response. `errorHandler`
      // responds with JSON.
      requireHostHeader: false,
    },
    (incoming, outgoing) => {
      outgoing.on("timeout", disconnectIfStalled);
      return (incoming.httpVersion === "1.0" ? handleHttp10 : handle)(incoming, outgoing);
    },
  );
  // Node would leave out or reject headers after the 1,000th. `maxHeaderSize` limits them already.
  server.maxHeadersCount = 0;
  server.timeout = limits.stallMs;
  answerMalformed(server, logRequests(server, services));
  traceRequests(server, services);
  const { drainDelayMs, closeMs } = limits;
  const connections = trackConnections(server);
  let accepting: Promise<void> | undefined;
  const closed = new Promise<void>((resolve) => server.once("close", () => resolve()));
  const stopAccepting = (maxLingerMs: number, onListenerClosed: () => void) => {
    accepting ??= closeListener(server, connections, { closed, onListenerClosed, maxLingerMs });
    return accepting;
  };
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
    async divertRequests() {
      if (drainDelayMs === 0) return;
      await sleep(drainDelayMs);
      await stopAccepting(drainDelayMs, () => closeAfterResponses(server, connections));
    },
    async close(maxWaitMs) {
      const waitOver = elapsed() + maxWaitMs;
      await stopAccepting(arrivalMs, () => closeAfterResponses(server, connections));
      // From here on, Node responds with 408 to requests that are still incomplete after this time.
      server.requestTimeout = Math.min(closeMs, limits.requestMs);
      server.headersTimeout = Math.min(closeMs, limits.headersMs);
      const withoutResponse = setInterval(() => {
        for (const [socket, response] of connections)
          if (response === undefined || response.writableFinished) socket.destroy();
      }, closeMs);
      const maxMs = Math.max(closeMs, waitOver - elapsed());
      const all = setTimeout(() => server.closeAllConnections(), maxMs);
      await closed;
      clearInterval(withoutResponse);
      clearTimeout(all);
    },
  };
}

/** Open connections, each with the response to its last request, if it had one. */
type Connections = ReadonlyMap<Socket, ServerResponse | undefined>;

/** Costs little CPU per request, because it adds a listener per connection only. */
function trackConnections(server: Server): Connections {
  const connections = new Map<Socket, ServerResponse | undefined>();
  server.on("connection", (socket) => {
    connections.set(socket, undefined);
    socket.once("close", () => connections.delete(socket));
  });
  server.prependListener("request", ({ socket }, outgoing) => {
    if (connections.has(socket)) connections.set(socket, outgoing);
  });
  return connections;
}

/**
 * Makes every later response close its connection. For pending responses, this is the one to the
 * last request of the connection: with an earlier one, pipelined requests would get no response.
 */
function closeAfterResponses(server: Server, connections: Connections): void {
  for (const outgoing of connections.values())
    if (outgoing !== undefined) outgoing.shouldKeepAlive = false;
  server.prependListener("request", ({ socket }, outgoing) => {
    const earlier = connections.get(socket);
    // This request was pipelined, so its response comes after the earlier one.
    if (earlier?.headersSent === false) earlier.shouldKeepAlive = true;
    outgoing.shouldKeepAlive = false;
  });
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
 * Time before the listener is closed, in which connections and requests that clients have already
 * sent can still arrive.
 */
const arrivalMs = 250;
/** Maximum time for accepting these connections, after which the listener is closed anyway. */
const maxAcceptMs = 2_000;
/** Time between two checks whether connections are left. */
const lingerPollMs = 20;

/**
 * Closes the listener and then idle connections, without losing requests that are on their way.
 * Load balancers should already send new clients elsewhere: see `divertRequests`. Closing the
 * listener at once would reset connections that are not accepted yet. Closing idle connections at
 * once would cut off requests that have arrived but are not read yet. In both cases the client
 * could not know whether its request had an effect. Before each of the two steps, the function
 * therefore waits and reads what has arrived. Responses close their connections only after the
 * listener is closed. If they did so earlier, a proxy would replace each closed connection by a new
 * one to this listener.
 *
 * @param maxLingerMs how long idle connections stay open after the listener is closed. Closing them
 *   at once could collide with a request that a proxy is sending. During this time, connections can
 *   instead close after their next response, which is safe.
 */
async function closeListener(
  server: Server,
  connections: Connections,
  {
    closed,
    onListenerClosed,
    maxLingerMs,
  }: { closed: Promise<void>; onListenerClosed: () => void; maxLingerMs: number },
): Promise<void> {
  await sleep(arrivalMs);
  await arrivedIsAccepted(server);
  // `close` of Node's HTTP server is not called here, because it also closes idle connections.
  NetServer.prototype.close.call(server);
  onListenerClosed();
  const lingerOver = elapsed() + maxLingerMs;
  while (elapsed() < lingerOver && (await connectionCount(server)) > 0) await sleep(lingerPollMs);
  const closeIdle = async () => {
    await arrivedIsRead();
    // To Node, a connection is idle from the end of its response on, even if most of the response
    // is not sent yet.
    if (!isSending(connections)) server.closeIdleConnections();
  };
  await closeIdle();
  const idle = setInterval(closeIdle, 50);
  void closed.then(() => {
    clearInterval(idle);
    // Ends Node's check for slow requests, which is needed until all connections are closed.
    server.close();
  });
}

/** Returns whether a response has ended of which a part is not sent yet. */
function isSending(connections: Connections): boolean {
  return Array.from(connections.values()).some(
    (response) => response?.writableEnded === true && !response.writableFinished,
  );
}

function connectionCount(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}

/**
 * Resolves when no connection waits to be accepted, and after `maxAcceptMs` at the latest. Node
 * accepts at most one connection in an iteration of the event loop, so many can wait if iterations
 * take long.
 */
async function arrivedIsAccepted(server: Server): Promise<void> {
  const over = elapsed() + maxAcceptMs;
  let accepted: number;
  const count = () => accepted++;
  server.on("connection", count);
  do {
    accepted = 0;
    await arrivedIsRead();
  } while (accepted > 0 && elapsed() < over);
  server.off("connection", count);
}

/**
 * Resolves after the event loop has read sockets twice: the callbacks of the first reading can take
 * long, and the second reads what arrived meanwhile.
 */
async function arrivedIsRead(): Promise<void> {
  await nextImmediate();
  await nextImmediate();
}
