import { createServer, type Server } from "node:http";
import { isIPv6, Server as NetServer } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { sleep } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { listenError } from "../base/listen-error.ts";
import { createApp } from "./app.ts";
import { errorResponse } from "./errors.ts";
import { answerMalformed } from "./malformed.ts";
import type { Services } from "./services.ts";

export interface Listening {
  /** Opens on this machine. */
  readonly url: string;
  /** Takes no new connections, ends those that are idle or become so, and after two seconds all. */
  close(): Promise<void>;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** Descriptor of a socket that is bound to the address already; several processes can accept from it. */
  readonly fd?: number | undefined;
}

/** Connections that wait to be accepted. */
const backlog = 4_096;

/**
 * Opens the HTTP door.
 * @throws ConfigError when the address cannot be had.
 */
export async function listen(services: Services, address: ListenAddress): Promise<Listening> {
  const app = createApp(services);
  const handle = getRequestListener(app.fetch, {
    errorHandler: (thrown) =>
      errorResponse(
        thrown instanceof RequestError ? noAddress() : thrown,
        services.log,
        "before any route",
      ),
  });
  const server = createServer(
    {
      // A body of 1 MiB in a minute is 17 kB/s; whoever is slower holds a connection for nothing.
      requestTimeout: 60_000,
      headersTimeout: 20_000,
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16_384,
      // Node's own refusal has no body.
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

/** Every address of the machine is no address to open: the loopback address is one of them. */
function openableHost(host: string, bound: string): string {
  if (bound === "0.0.0.0") return "127.0.0.1";
  if (bound === "::") return "[::1]";
  return isIPv6(host) ? `[${host}]` : host;
}

function noAddress(): ApiError {
  return new ApiError(
    "bad_request",
    "The request's path and Host header do not make a URL. Send both, each properly encoded.",
  );
}

/** Milliseconds for what has reached this machine to be accepted and read. */
const arriveMs = 250;

/**
 * By now every start is refused with 503, and nothing sends new callers here. Those who have connected, or have sent something that is not
 * read yet, are still answered: to close the listener, or a connection that only looks idle, at once would answer them with a
 * reset, of which no caller can tell whether it had an effect. Hence the waits, and the listener's own `close`: that of Node's HTTP server also
 * ends idle connections.
 */
async function closeServer(server: Server): Promise<void> {
  await sleep(arriveMs);
  const closed = new Promise<void>((resolve) =>
    NetServer.prototype.close.call(server, () => resolve()),
  );
  await sleep(arriveMs);
  server.close();
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const all = setTimeout(() => server.closeAllConnections(), 2_000);
  await closed;
  clearInterval(idle);
  clearTimeout(all);
}
