import { createServer, type Server } from "node:http";
import { Server as NetServer } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { sleep } from "../base/clock.ts";
import { ConfigError, Refusal } from "../base/errors.ts";
import { createApp } from "./app.ts";
import { errorResponse } from "./errors.ts";
import { answerMalformed } from "./malformed.ts";
import type { Services } from "./services.ts";

export interface Listening {
  readonly port: number;
  /** Takes no new connections, ends those that are idle or become so, and after two seconds all. */
  close(): Promise<void>;
}

/**
 * Opens the HTTP door. `shared`: several processes of one machine answer on the port together.
 * @throws ConfigError when the address cannot be had.
 */
export async function listen(services: Services, address: { host: string; port: number; shared: boolean }): Promise<Listening> {
  const app = createApp(services);
  const handle = getRequestListener(app.fetch, {
    errorHandler: (thrown) => errorResponse(thrown instanceof RequestError ? noAddress() : thrown, services.log, "before any route"),
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
    server.once("error", (error: NodeJS.ErrnoException) => {
      const remedy =
        error.code === "EADDRINUSE"
          ? "Something else listens there: stop it, or set PORT to another port."
          : "Set HOST and PORT to an address of this machine.";
      reject(new ConfigError(`Beckon cannot listen on ${address.host}:${address.port} (${error.code}). ${remedy}`));
    });
    server.listen({ host: address.host, port: address.port, reusePort: address.shared, backlog: 4_096 }, () => resolve());
  });
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : address.port,
    close: () => closeServer(server),
  };
}

function noAddress(): Refusal {
  return new Refusal("bad_request", "The request's path and Host header do not make a URL. Send both, each properly encoded.");
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
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  await sleep(arriveMs);
  server.close();
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const all = setTimeout(() => server.closeAllConnections(), 2_000);
  await closed;
  clearInterval(idle);
  clearTimeout(all);
}
