import { Agent, type buildConnector, type Dispatcher } from "undici";
import { meterOf } from "./byte-meter.ts";
import { StreamedExchange } from "./streamed-exchange.ts";
import { type WholeAnswer, WholeExchange } from "./whole-exchange.ts";

/** Limits of a transport. Times are in milliseconds. */
export interface LeanFetchOptions {
  /** Milliseconds to open a connection, TLS included. */
  readonly connectTimeoutMs: number;
  /** Milliseconds from the request sent to the head of its answer. A call may be shortened by its signal, never lengthened. */
  readonly headersTimeoutMs: number;
  /** Milliseconds between two pieces of a body, whatever they hold. */
  readonly bodyTimeoutMs: number;
  /** Milliseconds from the call to the end of its answer's body. Default: no limit but those above and the signal. */
  readonly totalTimeoutMs?: number;
  /** Connections to one origin; further calls wait for a free one. Default 4,096. */
  readonly maxConnections?: number;
  /** Bytes of one body, unless the call has a meter (`byte-meter.ts`). Default 32 MiB. */
  readonly maxResponseBytes?: number;
}

export interface WholeCall {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

/** Ways to call, with the same limits and errors. */
export interface Transport {
  /** Takes a URL and plain bodies (text or bytes); a `Request`, a form or a stream is a `TypeError`. */
  readonly fetch: typeof globalThis.fetch;
  /**
   * For an answer of which nothing is of use before all of it is there. Costs less CPU than `fetch` and the reading of its body: it
   * makes no headers, response and stream of the platform.
   */
  readonly call: (url: URL, call: WholeCall) => Promise<WholeAnswer>;
}

type Admit = (url: URL, headers: RequestInit["headers"]) => void;

/** A transport that owns its connections. */
export interface LeanFetch extends Transport {
  /** Ends all connections; calls in flight fail. */
  close(): Promise<void>;
}

/**
 * `fetch` for calls whose other side we choose: Node's own spends more CPU on one small call than everything else on its
 * way. Left out are CORS, caches, cookies, referrers, redirects (a 3xx is returned as it is: a key must not travel to
 * another host) and decompression (asked for `identity`; a body that comes encoded is an error, so that `maxResponseBytes`
 * counts what it seems to count).
 *
 * It rejects with the signal's reason, or with errors of Node and undici that carry a `code`; a body cut short rejects the
 * reading of it.
 *
 * Over `dispatch`, below `undici.request`: that one makes a Node stream of the body, which would have to be turned into a
 * web stream again. A `Response` of the platform is kept: a look-alike saved nothing that could be measured.
 *
 * @param connect opens the connections instead of undici's own, which `connectTimeoutMs` is for.
 * @param admit throws what a call that may not be made rejects with.
 */
export function createLeanFetch(
  options: LeanFetchOptions,
  connect?: buildConnector.connector,
  admit: Admit = () => {},
): LeanFetch {
  const agent = new Agent({
    connect: connect ?? { timeout: options.connectTimeoutMs },
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    // Counted by the exchange, which knows whether the call has a meter.
    maxResponseSize: -1,
    connections: options.maxConnections ?? 4_096,
    pipelining: 1,
    allowH2: false,
  });
  const limits = {
    totalTimeoutMs: options.totalTimeoutMs,
    maxResponseBytes: options.maxResponseBytes ?? 32 * 1024 * 1024,
  };
  return {
    fetch: (input, init) =>
      new Promise((resolve, reject) => {
        const url = urlOf(input);
        admit(url, init?.headers);
        const signal = init?.signal ?? undefined;
        const request = fetchOptions(url, init);
        meterBody(signal, request.body);
        if (signal?.aborted) return reject(signal.reason);
        agent.dispatch(request, new StreamedExchange(signal, limits, resolve, reject));
      }),
    call: (url, { method, headers, body = null, signal }) =>
      new Promise((resolve, reject) => {
        admit(url, headers);
        meterBody(signal, body);
        if (signal?.aborted) return reject(signal.reason);
        agent.dispatch(
          requestOptions(url, method, headers, body),
          new WholeExchange(signal, limits, resolve, reject),
        );
      }),
    close: () => agent.destroy(),
  };
}

function meterBody(
  signal: AbortSignal | undefined,
  body: Dispatcher.DispatchOptions["body"],
): void {
  if (typeof body === "string" || body instanceof Uint8Array) meterOf(signal)?.sent(body.length);
}

function urlOf(input: string | URL | Request): URL {
  if (typeof input === "string") return new URL(input);
  if (input instanceof URL) return input;
  throw new TypeError("this fetch takes a URL");
}

function fetchOptions(url: URL, init: RequestInit | undefined): Dispatcher.DispatchOptions {
  const body = init?.body ?? null;
  if (body !== null && typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError("this fetch sends text or bytes");
  return requestOptions(
    url,
    init?.method ?? "GET",
    Object.fromEntries(headerEntries(init?.headers)),
    body,
  );
}

function requestOptions(
  url: URL,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array | null,
): Dispatcher.DispatchOptions {
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: { accept: "*/*", ...headers, "accept-encoding": "identity" },
    body,
  };
}

function headerEntries(headers: RequestInit["headers"]): Iterable<readonly [string, string]> {
  if (headers === undefined) return [];
  return headers instanceof Headers || Array.isArray(headers)
    ? new Headers(headers)
    : Object.entries(headers as Record<string, string>);
}
