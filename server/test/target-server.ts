import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { takeReserved } from "./reserved-ports.ts";

export interface Reached {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An HTTP server for tools to call. */
export interface TargetServer {
  /** `http://127.0.0.1:<port>`, which any Beckon of this process is allowed to call. */
  readonly url: string;
  readonly host: string;
  /** All requests so far. */
  readonly reached: Reached[];
  /** Handles further requests. By default it echoes the request as JSON, with headers. */
  answer: (request: Reached, response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startTargetServer(): Promise<TargetServer> {
  const server = createServer((incoming, response) => {
    void read(incoming).then((request) => {
      target.reached.push(request);
      target.answer(request, response);
    });
  });
  const reserved = await takeReserved();
  await new Promise<void>((resolve) => server.listen(reserved, resolve));
  server.ref();
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const target: TargetServer = {
    url: `http://${host}`,
    host,
    reached: [],
    answer: (request, response) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(request)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return target;
}

async function read(incoming: IncomingMessage): Promise<Reached> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return {
    method: incoming.method ?? "",
    url: incoming.url ?? "",
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString(),
  };
}
