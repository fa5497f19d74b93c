import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

/** A request as it came. */
export interface Received {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What one request meets. */
export type Turn = (response: ServerResponse, request: Received) => void;

export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly Received[];
  /** What the next requests meet, one after the other; the last one meets all further ones too. */
  script(...turns: [Turn, ...Turn[]]): void;
}

/** Says over real HTTP what it is told to, until the file ends: what no Beckon says on demand, and what others say in its place. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const requests: Received[] = [];
  let turns: Turn[] = [];
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
    const [turn] = turns;
    if (turns.length > 1) turns = turns.slice(1);
    turn?.(response, request);
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
      turns = next;
    },
  };
}

/** A whole answer; an object goes as JSON. */
export function says(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Turn {
  const isText = typeof body === "string";
  return (response) => {
    response.writeHead(status, {
      "content-type": isText ? "text/html" : "application/json",
      ...headers,
    });
    response.end(isText ? body : JSON.stringify(body));
  };
}

/** As Beckon refuses. */
export function refuses(
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Turn {
  return says(status, { ok: false, error: `Refused as ${code}.`, code }, headers);
}

/** The connection ends before there is an answer. */
export const cuts: Turn = (response) => {
  response.destroy();
};

/** Nothing is ever answered. */
export const isSilent: Turn = () => {};

/** Headers and `text` of a stream; then the connection ends, as if it were complete or, with `cut`, by a cut. */
export function streams(text: string, { cut = true } = {}): Turn {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text, () => {
      if (cut) response.destroy();
      else response.end();
    });
  };
}
