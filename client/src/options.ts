/** Options of `createClient`. */
export interface ClientOptions {
  /** Beckon's URL, for example `https://beckon.example.com`. */
  readonly url: string;
  /**
   * The credential: a workspace key, or an agent's token. Each call can override it. Default: none,
   * for example if a session cookie authenticates.
   */
  readonly key?: string | undefined;
  /**
   * Maximum number of further attempts after a failed one, where a repeat is safe. 0 or more.
   * Default: 5, and 40 for an invoke once the id of its run is known.
   */
  readonly retries?: number | undefined;
  /**
   * Headers of every call, for example `beckon-workspace` when a session cookie authenticates. A
   * fire of a trigger's URL with another origin (scheme, host and port) than `url` does not send
   * them. Default: none.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The function that sends the requests. Default: the runtime's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** The credential of this call: a workspace key or an agent's token. Default: the client's. */
  readonly key?: string | undefined;
  /**
   * Aborts the call, which then throws the signal's reason. A started run continues. Default: the
   * call cannot be aborted.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the call including all attempts, until the response is read. Default: no
   * limit.
   */
  readonly timeout?: number | undefined;
  /**
   * Milliseconds for one attempt, after which its response counts as lost. JSON Lines must only
   * begin within this time. Default 60,000.
   */
  readonly tryTimeout?: number | undefined;
  /** Overrides `retries` of the client. Default: the client's value. */
  readonly retries?: number | undefined;
  /**
   * Parses the JSON of the response. Default: `JSON.parse`, which rounds integers outside of
   * ±2^53, for example ids of other systems in the arguments of tools.
   */
  readonly parse?: ((text: string) => unknown) | undefined;
}

/** Options of calls that create or start something. */
export interface OnceOptions extends CallOptions {
  /**
   * Calls with the same Idempotency-Key and body are executed once. Default: a random key for each
   * call, which all attempts of the call share.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options of calls that start a run. `runs.list` can filter by the id and the tags. */
export interface LabelOptions {
  /** The caller's own id for the run, 1 to 255 characters; it need not be unique. Default: none. */
  readonly externalId?: string | undefined;
  /** At most 10 different tags, each of 1 to 64 characters. Default: none. */
  readonly tags?: readonly string[] | undefined;
  /**
   * URL that also gets the run's final event. The workspace needs an enabled subscription that
   * covers the agent and has the same origin; a trigger needs `allows_callback`. Percent-encode all
   * but printable ASCII. Default: none.
   */
  readonly callback?: string | undefined;
}

/** Validated options with defaults. */
export interface Settings {
  /** Beckon's URL without a trailing slash. */
  readonly url: string;
  readonly key: string | undefined;
  /** Undefined if the caller has chosen none: the default depends on the call. */
  readonly retries: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/** Validates the options and fills in defaults. @throws TypeError if one is invalid */
export function settingsOf({ url, key, retries, headers = {}, fetch }: ClientOptions): Settings {
  if (!/^\s*https?:\/\/[^?#]+$/i.test(url) || !URL.canParse(url)) {
    throw new TypeError(
      "createClient: url must be Beckon's http or https URL, for example https://beckon.example.com",
    );
  }
  rejectUserinfo(url, "createClient: url");
  if (retries !== undefined && (!Number.isInteger(retries) || retries < 0))
    throw new TypeError("createClient: retries must be an integer, 0 or more");
  return {
    // As the parser writes it, which ignores spaces around a URL and the case of its scheme.
    url: new URL(url).href.replace(/\/+$/, ""),
    key,
    retries,
    headers,
    // `globalThis.fetch` is looked up on each call, so that a replacement made later, for example
    // by instrumentation or a test, takes effect.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
  };
}

/**
 * `fetch` rejects a URL with a user or password by an error that contains the whole URL.
 * @param name what the URL is, for the error
 * @throws TypeError if the URL has a user or password
 */
export function rejectUserinfo(url: string, name: string): void {
  const { username, password } = new URL(url);
  if (username !== "" || password !== "")
    throw new TypeError(`${name} must not have a user or password. Remove them from the URL.`);
}
