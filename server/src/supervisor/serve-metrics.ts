import { createServer } from "node:http";
import { messageOf } from "../base/errors.ts";
import { listenError } from "../base/listen-error.ts";
import type { Log } from "../base/log.ts";

/** A server for Prometheus. */
export interface MetricsServer {
  readonly url: string;
  close(): void;
}

/** The names of the settings that contain the address. */
export const metricsSettings = { host: "BECKON_METRICS_HOST", port: "BECKON_METRICS_PORT" };

/** The content type of the text format of Prometheus. */
const contentType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Serves `GET /metrics`. The supervisor serves it, because a server process knows only its own
 * metrics, and because the supervisor responds when all servers are overloaded. Requests need no
 * credential, so the default of BECKON_METRICS_HOST is the loopback address.
 * @throws ConfigError if the address is in use or cannot be bound.
 */
export async function serveMetrics(
  address: { readonly host: string; readonly port: number },
  collect: () => Promise<string>,
  log: Log,
): Promise<MetricsServer> {
  const server = createServer(
    // Prometheus sends few and small requests. The limits end slow requests and reject large ones,
    // so that no other client can keep the supervisor busy.
    { requestTimeout: 5_000, headersTimeout: 5_000, maxHeaderSize: 8_192, keepAliveTimeout: 5_000 },
    async (incoming, outgoing) => {
      const isFound = incoming.url === "/metrics";
      if (!isFound || (incoming.method !== "GET" && incoming.method !== "HEAD")) {
        const [status, text] = isFound ? [405, "Use GET.\n"] : [404, "Metrics are at /metrics.\n"];
        outgoing.writeHead(status, { "content-type": "text/plain" }).end(text);
        return;
      }
      try {
        const text = await collect();
        outgoing.writeHead(200, { "content-type": contentType }).end(text);
      } catch (thrown) {
        log.write("metrics could not be collected", { reason: messageOf(thrown) });
        outgoing.writeHead(500, { "content-type": "text/plain" }).end("See the log.\n");
      }
    },
  );
  server.maxConnections = 20;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, address, metricsSettings)));
    server.listen(address, resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("a TCP server has an address");
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return {
    url: `http://${host}:${bound.port}/metrics`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
