import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "./eventually.ts";
import { takeReserved } from "./reserved-ports.ts";

/** A request that a receiver of deliveries got. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Value of the header `webhook-id`. */
  readonly id: string;
  /** When the request had arrived, as milliseconds since 1970. */
  readonly at: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare the body, which can have any form
  readonly body: any;
}

/** An HTTP server that receives deliveries. */
export interface Receiver {
  readonly url: string;
  readonly origin: string;
  readonly received: Received[];
  /** Responds to further requests; by default with 204. */
  respond: (request: Received, response: ServerResponse) => void;
  /**
   * Waits until at least `count` requests that `match` have arrived. Returns all that `match`.
   * @param match default: all requests.
   * @param within timeout in milliseconds.
   */
  awaitCount(
    count: number,
    match?: (request: Received) => boolean,
    within?: number,
  ): Promise<readonly Received[]>;
  close(): Promise<void>;
}

/** Starts a receiver that every Beckon of this process is allowed to call. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((incoming, response) => {
    void read(incoming).then((request) => {
      receiver.received.push(request);
      receiver.respond(request, response);
    });
  });
  const reserved = await takeReserved();
  await new Promise<void>((resolve) => server.listen(reserved, resolve));
  server.ref();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiver: Receiver = {
    origin,
    url: `${origin}/hook`,
    received: [],
    respond: (_request, response) => response.writeHead(204).end(),
    awaitCount: (count, match = () => true, within = undefined) =>
      eventually(
        `${count} deliveries`,
        () => {
          const found = receiver.received.filter(match);
          return found.length >= count ? found : undefined;
        },
        within,
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

async function read(incoming: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return {
    path: incoming.url ?? "",
    headers: incoming.headers,
    text,
    id: String(incoming.headers["webhook-id"]),
    at: Date.now(),
    body: JSON.parse(text),
  };
}
