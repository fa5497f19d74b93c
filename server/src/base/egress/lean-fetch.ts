import { Agent, type buildConnector, type Dispatcher } from "undici";
import { ResponseBody } from "./response-body.ts";

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
  /** Bytes of one body. Default 32 MiB. */
  readonly maxResponseBytes?: number;
}

export interface LeanFetch {
  /** Takes a URL and plain bodies (text or bytes); a `Request`, a form or a stream is a `TypeError`. */
  readonly fetch: typeof globalThis.fetch;
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
 */
export function createLeanFetch(options: LeanFetchOptions, connect?: buildConnector.connector): LeanFetch {
  const agent = new Agent({
    connect: connect ?? { timeout: options.connectTimeoutMs },
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    maxResponseSize: options.maxResponseBytes ?? 32 * 1024 * 1024,
    connections: options.maxConnections ?? 4_096,
    pipelining: 1,
    allowH2: false,
  });
  return {
    fetch: (input, init) =>
      new Promise((resolve, reject) => {
        const signal = init?.signal ?? undefined;
        if (signal?.aborted) return reject(signal.reason);
        agent.dispatch(requestOptions(input, init), new Exchange(signal, options.totalTimeoutMs, resolve, reject));
      }),
    close: () => agent.destroy(),
  };
}

/** One request on its way: hears from undici, settles the promise of `fetch`, then feeds the body. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.#stop(this.#signal?.reason);
  readonly #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #body: ResponseBody | undefined;
  /** Why it was given up from this side. */
  #stopped: Error | undefined;

  constructor(
    signal: AbortSignal | undefined,
    totalTimeoutMs: number | undefined,
    resolve: (response: Response) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (totalTimeoutMs !== undefined) this.#timer = setTimeout(() => this.#stop(outOfTime(totalTimeoutMs)), totalTimeoutMs);
  }

  /** Settles at once: undici itself would first wait for the connection that is being opened. */
  #stop(reason: unknown): void {
    this.#stopped = asError(reason);
    this.#fail(reason);
    this.#controller?.abort(this.#stopped);
  }

  #fail(reason: unknown): void {
    this.#over();
    this.#reject(reason);
    this.#body?.fail(reason);
  }

  #over(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    clearTimeout(this.#timer);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped !== undefined) controller.abort(this.#stopped);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: RawHeaders, statusText?: string): void {
    if (status < 200 || this.#stopped !== undefined) return;
    const encoding = headers["content-encoding"];
    if (encoding !== undefined && encoding !== "identity") {
      controller.abort(Object.assign(new Error("the body is encoded"), { code: "BECKON_ENCODED_BODY" }));
      return;
    }
    const init = { status, statusText: statusText ?? "", headers: headerPairs(headers) };
    if (status === 204 || status === 205 || status === 304) {
      this.#resolve(new Response(null, init));
      return;
    }
    this.#body = new ResponseBody(controller, { lines: String(headers["content-type"]).startsWith("text/event-stream") });
    this.#resolve(new Response(this.#body.stream, init));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.add(chunk);
  }

  onResponseEnd(): void {
    this.#over();
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }
}

type RawHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2];

function outOfTime(ms: number): Error {
  return Object.assign(new Error(`the call took longer than ${ms} ms`), { code: "BECKON_TOTAL_TIMEOUT" });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}

function headerPairs(headers: RawHeaders): [string, string][] {
  const pairs: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (Array.isArray(value)) for (const each of value) pairs.push([name, each]);
    else if (value !== undefined) pairs.push([name, value]);
  }
  return pairs;
}

function requestOptions(input: string | URL | Request, init: RequestInit | undefined): Dispatcher.DispatchOptions {
  if (typeof input !== "string" && !(input instanceof URL)) throw new TypeError("this fetch takes a URL");
  const url = typeof input === "string" ? new URL(input) : input;
  const body = init?.body ?? null;
  if (body !== null && typeof body !== "string" && !(body instanceof Uint8Array)) throw new TypeError("this fetch sends text or bytes");
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: init?.method ?? "GET",
    headers: { accept: "*/*", ...Object.fromEntries(headerEntries(init?.headers)), "accept-encoding": "identity" },
    body,
  };
}

function headerEntries(headers: RequestInit["headers"]): Iterable<readonly [string, string]> {
  if (headers === undefined) return [];
  return headers instanceof Headers || Array.isArray(headers) ? new Headers(headers) : Object.entries(headers as Record<string, string>);
}
