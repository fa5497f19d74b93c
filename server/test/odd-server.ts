import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll } from "vitest";

export interface OddServer {
  readonly root: string;
  /** Number of connections so far. */
  readonly connections: number;
  /**
   * `started` has the URLs of endless responses that have begun. `abandoned` has those whose
   * connection was closed.
   */
  readonly started: ReadonlySet<string>;
  readonly abandoned: ReadonlySet<string>;
}

/**
 * Starts a server with responses that are difficult for a client, each at its own path. It is
 * closed after the tests of the file.
 * @param more handlers of further paths, by path
 */
export async function startOddServer(
  more: Readonly<Record<string, RequestListener>> = {},
): Promise<OddServer> {
  const started = new Set<string>();
  const abandoned = new Set<string>();
  let connections = 0;
  const routes: Readonly<Record<string, RequestListener>> = {
    "/echo": (request, response) => {
      const { method, url, headers } = request;
      void textOf(request).then((body) =>
        response
          .writeHead(201, { "X-Many": ["a", "b"] })
          .end(JSON.stringify({ method, url, headers, body })),
      );
    },
    "/no-body": (_request, response) => void response.writeHead(204).end(),
    "/redirect": (_request, response) =>
      void response.writeHead(302, { location: "/echo" }).end("moved"),
    "/gzip": (_request, response) =>
      void response
        .writeHead(200, { "content-encoding": "gzip" })
        .end(gzipSync("x".repeat(1_000_000))),
    "/large": (_request, response) => {
      response.writeHead(200).write("x".repeat(1_500));
      response.end("x".repeat(1_500));
    },
    "/large-declared": (_request, response) =>
      void response.writeHead(200, { "content-length": "3000" }).end("x".repeat(3_000)),
    "/silent": () => undefined,
    "/never-ending": (request, response) => {
      request.socket.once("close", () => abandoned.add(request.url ?? ""));
      response.writeHead(200).write("begun");
      started.add(request.url ?? "");
    },
    "/short": (_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      setImmediate(() => response.socket?.end());
    },
    "/pieces": (_request, response) => {
      for (let n = 0; n < 300; n += 1) response.write(`${n} `.padEnd(1_000));
      response.end();
    },
    ...more,
  };
  const server = createServer((request, response) =>
    routes[(request.url ?? "").split("?")[0] ?? ""]?.(request, response),
  );
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    started,
    abandoned,
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
