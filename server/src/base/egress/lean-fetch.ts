import { Agent, type buildConnector, type Dispatcher } from "undici";
import {
  BeginningExchange,
  type BeginningLimits,
  type ResponseBeginning,
} from "./beginning-exchange.ts";
import { meterOf } from "./byte-meter.ts";
import { StreamedExchange } from "./streamed-exchange.ts";
import { WholeExchange, type WholeResponse } from "./whole-exchange.ts";

/** Limits of a transport. */
export interface LeanFetchOptions {
  /** Maximum milliseconds to open a connection, including TLS. */
  readonly connectTimeoutMs: number;
  /**
   * Maximum milliseconds from the sent request to the head of the response. A call's signal can
   * shorten this, not extend it.
   */
  readonly headersTimeoutMs: number;
  /** Maximum milliseconds between two chunks of a body. */
  readonly bodyTimeoutMs: number;
  /** Maximum milliseconds from the call to the end of the response body. Default: none. */
  readonly totalTimeoutMs?: number;
  /** Maximum connections to one origin; further calls wait. Default 4,096. */
  readonly maxConnections?: number;
  /**
   * Maximum bytes of a response body, unless a meter counts them (`byte-meter.ts`). Default 32 MiB.
   */
  readonly maxResponseBytes?: number;
}

export interface WholeCall {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

/** Functions that make calls with the same limits and errors. */
export interface Transport {
  /**
   * Accepts a URL and a body of text or bytes; a `Request`, a form or a stream is a `TypeError`.
   */
  readonly fetch: typeof globalThis.fetch;
  /** Like `fetch`, but a body with a content encoding is accepted. It is not decoded. */
  readonly fetchEncoded: typeof globalThis.fetch;
  /**
   * Returns the response with its whole body. Costs less CPU than `fetch` and reading the body,
   * because it creates no `Headers`, `Response` or stream.
   */
  readonly call: (url: URL, call: WholeCall) => Promise<WholeResponse>;
}

type CheckRequest = (url: URL, headers: RequestInit["headers"]) => void;

/** A transport that owns its connections. */
export interface LeanFetch extends Transport {
  /**
   * Like `call`, for responses of which only the status and the beginning of the body matter. A
   * body that is too long, encoded or incomplete is no error.
   */
  readonly callForBeginning: (
    url: URL,
    call: WholeCall,
    limits: BeginningLimits,
  ) => Promise<ResponseBeginning>;
  /** Closes all connections. Calls in flight fail. */
  close(): Promise<void>;
}

/**
 * Creates a transport for server-side calls. Node's own `fetch` spends more CPU on a small call
 * than all other code of a run together.
 *
 * The transport omits CORS, caches, cookies, referrers, redirects and decompression. A redirect is
 * returned as it is, because a key must not be sent to another host. Requests have the header
 * `accept-encoding: identity`. `fetch` and `call` reject an encoded body, so that
 * `maxResponseBytes` limits the real size.
 *
 * Calls reject with the signal's reason, or with errors that have a `code`. If a body is truncated,
 * `call` rejects, and so does reading the body of the response of `fetch`.
 *
 * Rejected: `undici.request`, which creates a Node stream that would have to be converted to a web
 * stream; a lighter substitute for `Response`, which saved nothing measurable.
 *
 * @param connect opens the connections instead of undici's connector; `connectTimeoutMs` is then
 *   ignored.
 * @param checkRequest is called before each request. If it throws, the call rejects with its error.
 */
export function createLeanFetch(
  options: LeanFetchOptions,
  connect?: buildConnector.connector,
  checkRequest: CheckRequest = () => {},
): LeanFetch {
  const agent = new Agent({
    connect: connect ?? { timeout: options.connectTimeoutMs },
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    // `Exchange` limits the size instead, because `maxResponseBytes` does not apply to a call whose
    // `ByteMeter` counts the bytes.
    maxResponseSize: -1,
    connections: options.maxConnections ?? 4_096,
    pipelining: 1,
    allowH2: false,
  });
  const limits = {
    totalTimeoutMs: options.totalTimeoutMs,
    maxResponseBytes: options.maxResponseBytes ?? 32 * 1024 * 1024,
  };
  const fetchWith =
    (acceptsEncoded: boolean): typeof globalThis.fetch =>
    (input, init) =>
      new Promise((resolve, reject) => {
        const url = urlOf(input);
        checkRequest(url, init?.headers);
        const signal = init?.signal ?? undefined;
        const request = fetchOptions(url, init);
        meterBody(signal, request.body);
        if (signal?.aborted) return reject(signal.reason);
        const reading = { acceptsEncoded, prefersEvents: prefersEvents(init?.headers) };
        agent.dispatch(request, new StreamedExchange(reading, signal, limits, resolve, reject));
      });
  return {
    fetch: fetchWith(false),
    fetchEncoded: fetchWith(true),
    call: (url, { method, headers, body = null, signal }) =>
      new Promise((resolve, reject) => {
        checkRequest(url, headers);
        meterBody(signal, body);
        if (signal?.aborted) return reject(signal.reason);
        agent.dispatch(
          requestOptions(url, method, headers, body),
          new WholeExchange(signal, limits, resolve, reject),
        );
      }),
    callForBeginning: (url, { method, headers, body = null, signal }, beginning) =>
      new Promise((resolve, reject) => {
        checkRequest(url, headers);
        if (signal?.aborted) return reject(signal.reason);
        const unlimited = { ...limits, maxResponseBytes: Infinity };
        agent.dispatch(
          requestOptions(url, method, headers, body),
          new BeginningExchange(beginning, signal, unlimited, resolve, reject),
        );
      }),
    close: () => agent.destroy(),
  };
}

function meterBody(
  signal: AbortSignal | undefined,
  body: Dispatcher.DispatchOptions["body"],
): void {
  if (typeof body === "string" || body instanceof Uint8Array)
    meterOf(signal)?.requested?.(body.length);
}

function urlOf(input: string | URL | Request): URL {
  if (typeof input === "string") return new URL(input);
  if (input instanceof URL) return input;
  throw new TypeError("fetch takes a string or a URL here. Pass one of these");
}

function fetchOptions(url: URL, init: RequestInit | undefined): Dispatcher.DispatchOptions {
  const body = init?.body ?? null;
  if (body !== null && typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError("fetch sends only text or bytes here. Pass a string or a Uint8Array");
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
  // Names are compared in lower case: the same name in another case would be sent as a second
  // header.
  const given = Object.entries(headers).filter(([name]) => !isHeader(name, "accept-encoding"));
  const accept = given.some(([name]) => isHeader(name, "accept")) ? {} : { accept: "*/*" };
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: { ...accept, ...Object.fromEntries(given), "accept-encoding": "identity" },
    body,
  };
}

/** Returns whether the first type in the header `accept` is that of event streams. */
function prefersEvents(headers: RequestInit["headers"]): boolean {
  for (const [name, value] of headerEntries(headers))
    if (isHeader(name, "accept")) return value.startsWith("text/event-stream");
  return false;
}

const isHeader = (name: string, lowerCaseName: string) => name.toLowerCase() === lowerCaseName;

function headerEntries(headers: RequestInit["headers"]): Iterable<readonly [string, string]> {
  if (headers === undefined) return [];
  return headers instanceof Headers || Array.isArray(headers)
    ? new Headers(headers)
    : Object.entries(headers as Record<string, string>);
}
