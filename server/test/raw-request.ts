import { request } from "node:http";
import type { Answer } from "./beckon.ts";

export interface RawRequest {
  readonly method: string;
  /** Name, value, name, value …: repeated names are sent repeatedly. */
  readonly headers: readonly string[];
  /** Replaces the URL's host in the header `Host`. Default: the URL's host. */
  readonly host?: string;
  /** The body, in pieces. Sent with chunked encoding, unless `headers` has a Content-Length. */
  readonly pieces?: readonly (string | Buffer)[];
}

/** Sends a request that `fetch` would change, for example by joining repeated headers. */
export function rawRequest(
  url: string,
  { method, headers, host = new URL(url).host, pieces = [] }: RawRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method, headers: ["host", host, ...headers], agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: incoming.statusCode ?? 0,
            headers: new Headers(
              Object.entries(incoming.headersDistinct).map(([name, values]) => [
                name,
                (values ?? []).join(", "),
              ]),
            ),
            body: text === "" ? undefined : JSON.parse(text),
          });
        });
      },
    );
    outgoing.on("error", reject);
    for (const piece of pieces) outgoing.write(piece);
    outgoing.end();
  });
}
