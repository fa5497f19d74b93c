import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server that records its connections. */
export interface Listener {
  readonly address: string;
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /** The `Host` header of every request so far. */
  readonly hosts: readonly string[];
  close(): Promise<void>;
}

/** Listens on one address, for example 127.0.0.2: on Linux, all of 127.0.0.0/8 is loopback. */
export async function listenOn(
  address: string,
  listener: RequestListener,
  port = 0,
): Promise<Listener> {
  const hosts: string[] = [];
  let connections = 0;
  const server: Server = createServer((request, response) => {
    hosts.push(request.headers.host ?? "");
    listener(request, response);
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  return {
    address,
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    hosts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
