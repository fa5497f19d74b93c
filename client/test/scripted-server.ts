import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

/** A received request. */
export interface Received {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Handles one request. */
export type Handler = (response: ServerResponse, request: Received) => void;

export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly Received[];
  /** Sets the handlers of the next requests, in order; the last one also handles all later ones. */
  script(...handlers: [Handler, ...Handler[]]): void;
}

/**
 * Starts an HTTP server that sends scripted responses, such as errors that Beckon does not send on
 * demand and responses of proxies. It is stopped after the tests of the file.
 */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const requests: Received[] = [];
  let handlers: Handler[] = [];
  const server = createServer(async (incoming, response) => {
    let body = "";
    for await (const bytes of incoming.setEncoding("utf8")) body += bytes;
    const request = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      body,
    };
    requests.push(request);
    const [handler] = handlers;
    if (handlers.length > 1) handlers = handlers.slice(1);
    handler?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (...next) => {
      requests.length = 0;
      handlers = next;
    },
  };
}

/** Sends a complete response; objects are sent as JSON. */
export function responds(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Handler {
  const isText = typeof body === "string";
  return (response) => {
    response.writeHead(status, {
      "content-type": isText ? "text/html" : "application/json",
      ...headers,
    });
    response.end(isText ? body : JSON.stringify(body));
  };
}

/** Sends an error response in Beckon's format. */
export function rejects(
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Handler {
  return responds(status, { ok: false, error: `Rejected with ${code}.`, code }, headers);
}

/** Closes the connection without a response. */
export const disconnects: Handler = (response) => {
  response.destroy();
};

/** Never sends a response. */
export const neverResponds: Handler = () => {};

/**
 * Sends the headers and `text` of an event stream.
 * @param disconnect whether the connection is then destroyed before the response is complete. If
 *   not, the response is completed. Default: true
 */
export function sendsStream(text: string, { disconnect = true } = {}): Handler {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text, () => {
      if (disconnect) response.destroy();
      else response.end();
    });
  };
}
