import type { Dispatcher } from "undici";
import { canBeEvents } from "./event-stream.ts";
import { Exchange, type Head, isBodiless } from "./exchange.ts";
import { ResponseBody } from "./response-body.ts";

/**
 * Maximum status that `Response` accepts. HTTP allows three digits, and some servers send, for
 * example, 999. Such a status is then defined as a property of the response.
 */
const maxResponseStatus = 599;

interface Acceptance {
  readonly acceptsEncoded: boolean;
  /** Whether the request prefers an event stream. */
  readonly prefersEvents: boolean;
}

/**
 * An exchange that resolves with a `Response` when the response head has arrived. Then it streams
 * the body.
 */
export class StreamedExchange extends Exchange<Response> {
  protected override readonly acceptsEncoded: boolean;
  readonly #prefersEvents: boolean;
  #body: ResponseBody | undefined;

  constructor(
    { acceptsEncoded, prefersEvents }: Acceptance,
    ...rest: ConstructorParameters<typeof Exchange<Response>>
  ) {
    super(...rest);
    this.acceptsEncoded = acceptsEncoded;
    this.#prefersEvents = prefersEvents;
  }

  protected begin(
    { status, statusText, headers }: Head,
    controller: Dispatcher.DispatchController,
  ): void {
    if (!isBodiless(status)) {
      const type = String(headers["content-type"] ?? "");
      const lines =
        type.startsWith("text/event-stream") || (this.#prefersEvents && canBeEvents(type));
      this.#body = new ResponseBody(controller, { lines });
    }
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
