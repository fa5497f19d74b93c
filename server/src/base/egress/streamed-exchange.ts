import type { Dispatcher } from "undici";
import { Exchange, type Head, isBodiless } from "./exchange.ts";
import { ResponseBody } from "./response-body.ts";

/**
 * Maximum status that `Response` accepts. HTTP allows three digits, and some servers send, for
 * example, 999. Such a status is then defined as a property of the response.
 */
const maxResponseStatus = 599;

/**
 * An exchange that resolves with a `Response` when the response head has arrived. Then it streams
 * the body.
 */
export class StreamedExchange extends Exchange<Response> {
  protected override readonly acceptsEncoded: boolean;
  #body: ResponseBody | undefined;

  constructor(acceptsEncoded: boolean, ...rest: ConstructorParameters<typeof Exchange<Response>>) {
    super(...rest);
    this.acceptsEncoded = acceptsEncoded;
  }

  protected begin(
    { status, statusText, headers }: Head,
    controller: Dispatcher.DispatchController,
  ): void {
    if (!isBodiless(status))
      this.#body = new ResponseBody(controller, {
        lines: String(headers["content-type"]).startsWith("text/event-stream"),
      });
    const response = new Response(this.#body?.stream ?? null, {
      status: Math.min(status, maxResponseStatus),
      statusText: reasonPhrase(statusText),
      headers: pairs(headers),
    });
    if (status > maxResponseStatus) Object.defineProperty(response, "status", { value: status });
    this.resolve(response);
  }

  protected take(chunk: Buffer): void {
    this.#body?.add(chunk);
  }

  protected finish(): void {
    this.#body?.end();
  }

  protected fail(reason: unknown): void {
    this.#body?.fail(reason);
  }
}

/**
 * Returns the reason phrase, or an empty text if `Response` would reject it. Some servers send it
 * in their own language and encoding.
 */
function reasonPhrase(text: string): string {
  return /^[\x20-\x7e\x80-\xff]*$/.test(text) ? text : "";
}

function pairs(headers: Head["headers"]): [string, string][] {
  const all: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (Array.isArray(value)) for (const each of value) all.push([name, each]);
    else if (value !== undefined) all.push([name, value]);
  }
  return all;
}
