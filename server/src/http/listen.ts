import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { ConfigError } from "../base/errors.ts";
import { createApp } from "./app.ts";
import type { Services } from "./services.ts";

export interface Listening {
  readonly port: number;
  /** Takes no new connections; resolves when those there are have ended, which idle ones do at once. */
  close(): Promise<void>;
  /** Ends what is still open. */
  destroy(): void;
}

/**
 * Opens the HTTP door. `shared`: several processes of one machine answer on the port together.
 * @throws ConfigError when the address cannot be had.
 */
export async function listen(services: Services, address: { host: string; port: number; shared: boolean }): Promise<Listening> {
  const app = createApp(services);
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    serverOptions: {
      // A body of 1 MiB in a minute is 17 kB/s; whoever is slower holds a connection for nothing.
      requestTimeout: 60_000,
      headersTimeout: 20_000,
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16_384,
    },
  }) as Server;
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
    destroy: () => server.closeAllConnections(),
  };
}
