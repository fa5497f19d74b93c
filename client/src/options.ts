/** How a client reaches a Beckon. */
export interface ClientOptions {
  /** Where it is, for example `https://beckon.example.com`. */
  readonly url: string;
  /** A workspace key, or an agent's token where that is enough. Calls may name another. */
  readonly key?: string | undefined;
  /** How often a call is repeated after its first try, where that is safe. Default 5. */
  readonly retries?: number | undefined;
  /** Sent with every call, for example `beckon-workspace` with a session's cookie. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** In place of the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
}

/** What every call takes. */
export interface CallOptions {
  /** The credential of this call. */
  readonly key?: string | undefined;
  /** Ends the call, which then throws the signal's reason. What the server has begun goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the call with all its tries. Default: none. */
  readonly timeout?: number | undefined;
  /** Milliseconds for one try; then its answer counts as lost. Default 60,000. */
  readonly tryTimeout?: number | undefined;
  readonly retries?: number | undefined;
}

/** What a call takes that creates or starts something. */
export interface OnceOptions extends CallOptions {
  /** Calls with the same key and body do it once. Default: a new key for each call, the same for all of its tries. */
  readonly idempotencyKey?: string | undefined;
}

/** What the client knows, checked. */
export interface Settings {
  /** Without a slash at its end. */
  readonly url: string;
  readonly key: string | undefined;
  readonly retries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/** @throws TypeError that says what is wrong. */
export function settingsOf({
  url,
  key,
  retries = 5,
  headers = {},
  fetch,
}: ClientOptions): Settings {
  if (!/^https?:\/\/[^?#]+$/.test(url) || !URL.canParse(url)) {
    throw new TypeError(
      "createClient: url must be Beckon's http(s) address, for example https://beckon.example.com",
    );
  }
  if (!Number.isInteger(retries) || retries < 0)
    throw new TypeError("createClient: retries must be a whole number, 0 or more");
  return {
    url: url.replace(/\/+$/, ""),
    key,
    retries,
    headers,
    // Looked up at each call, so that what is put in its place later (instrumentation, a test) is used.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
  };
}
