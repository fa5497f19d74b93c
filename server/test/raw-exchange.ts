import { connect } from "node:net";

/** A response as received. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

export interface Exchange {
  /** Final responses, in order, without 1xx such as `100 Continue`. */
  readonly answers: readonly RawAnswer[];
  /** Received bytes that are no complete HTTP response. */
  readonly rest: string;
}

export interface ExchangeOptions {
  /**
   * True closes the sending side of the connection after the request's bytes, so that the server
   * does not wait for more. Default: false.
   */
  readonly complete?: boolean;
  /**
   * Whether the request is a HEAD. Its response then has no body, unless the server rejects the
   * request before it has parsed the method.
   */
  readonly isHead?: boolean;
}

/** Maximum time for the server to close the connection. */
const maxWaitMs = 30_000;

/**
 * Sends exactly these bytes to the server at `url` and reads until the server closes the
 * connection. Unless `complete` is set, the request must ask the server to close the connection,
 * for example with `Connection: close`.
 */
export function rawExchange(
  url: string,
  bytes: Buffer,
  { complete = false, isHead = false }: ExchangeOptions = {},
): Promise<Exchange> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      reject(
        new Error(
          `the connection was not closed within ${maxWaitMs} ms; received: ${Buffer.concat(chunks).toString("latin1")}`,
        ),
      );
      socket.destroy();
    }, maxWaitMs);
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    // The server can close the connection while we are still sending, so an error does not fail the
    // test.
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(readAnswers(Buffer.concat(chunks), isHead));
    });
    if (complete) socket.end(bytes);
    else socket.write(bytes);
  });
}

function readAnswers(received: Buffer, isHead: boolean): Exchange {
  const answers: RawAnswer[] = [];
  let at = 0;
  for (;;) {
    const start = at;
    const headEnd = received.indexOf("\r\n\r\n", at);
    const [statusLine = "", ...lines] = received
      .subarray(at, Math.max(at, headEnd))
      .toString("latin1")
      .split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const rest = received.subarray(start).toString("latin1");
    if (headEnd < 0 || Number.isNaN(status)) return { answers, rest };
    const headers = new Map(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    );
    at = headEnd + 4;
    if (status < 200) continue;
    const length =
      (isHead && at === received.length) || status === 204
        ? 0
        : Number(headers.get("content-length"));
    // Only responses with a correct `content-length` can be separated. All others stay in `rest`,
    // with their headers.
    if (Number.isNaN(length) || at + length > received.length) return { answers, rest };
    answers.push({ status, headers, text: received.subarray(at, at + length).toString("utf8") });
    at += length;
  }
}
