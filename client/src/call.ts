import type { CallOptions, LabelOptions, OnceOptions, Settings } from "./options.ts";

/** One operation with its arguments, as the generated functions pass it. */
export interface Call {
  readonly method: string;
  /**
   * Path below `/api/public` with the names of its parameters, for example `/agents/{agent_id}`.
   * Error messages show this path and never the parameters' values.
   */
  readonly path: string;
  /** Values of the path's parameters, in the order of the path. Default: none. */
  readonly params?: readonly (string | number)[];
  readonly query?: object | undefined;
  /**
   * A string or `Blob` is sent unchanged if `bodyType` is set; all else is sent as JSON. Undefined:
   * the request has no body.
   */
  readonly body?: unknown;
  readonly bodyType?: string;
  readonly accept?: string;
  /** Whether the operation accepts an Idempotency-Key. If so, one is always sent. */
  readonly once?: boolean;
  /** Whether the operation starts a run that can have the caller's own id, tags and callback. */
  readonly labelled?: boolean;
  /** Whether the operation needs no credential. If so, none is sent. */
  readonly open?: boolean;
  readonly headers?: Readonly<Record<string, string | number | undefined>>;
  /** Overrides the client's URL for this call. Default: the client's URL. */
  readonly url?: string;
}

type Content = string | Blob;

/** The request that every attempt of a call sends. */
export interface PreparedRequest {
  readonly url: string;
  readonly init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: Content;
    readonly redirect: "manual";
  };
  /** Whether sending the request twice has the same effect as sending it once. */
  readonly repeatable: boolean;
  /** Method and path, for error messages. */
  readonly operation: string;
}

/** Builds the request of a call. @throws TypeError if an argument cannot be sent */
export function prepare(
  settings: Settings,
  call: Call,
  options: CallOptions & OnceOptions & LabelOptions,
): PreparedRequest {
  const { method, path, params = [], query = {} } = call;
  const operation = `${method} ${path}`;
  const headers: Record<string, string> = {
    ...(isForeign(call, settings) ? {} : settings.headers),
    accept: call.accept ?? "application/json",
  };
  const key = call.open ? undefined : (options.key ?? settings.key);
  if (key !== undefined) headers["x-api-key"] = key;
  if (call.once) headers["idempotency-key"] = options.idempotencyKey ?? newIdempotencyKey();
  for (const [name, value] of Object.entries(call.headers ?? {}))
    if (value !== undefined) headers[name.toLowerCase()] = String(value);
  // Percent-encoded, because HTTP headers cannot have most Unicode characters.
  if (call.labelled && options.externalId !== undefined)
    headers["beckon-external-id"] = encodeURIComponent(options.externalId);
  if (call.labelled && options.tags !== undefined && options.tags.length > 0)
    headers["beckon-tags"] = options.tags.map(encodeURIComponent).join();
  if (call.labelled && options.callback !== undefined)
    headers["beckon-callback"] = options.callback;
  const body = bodyOf(call);
  if (body !== undefined) headers["content-type"] = body.type;
  if (!Object.values(headers).every((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value))) {
    throw new TypeError(
      `${operation}: the key or a header contains characters that HTTP does not allow.`,
    );
  }
  return {
    url: `${call.url ?? settings.url}/api/public${fillPath(path, params, operation)}${queryString(query)}`,
    init: {
      method,
      headers,
      ...(body === undefined ? {} : { body: body.content }),
      redirect: "manual",
    },
    repeatable: isRepeatable(method, headers),
    operation,
  };
}

/**
 * Returns whether the call is sent to another origin than the client's. The headers of the client
 * can contain a credential, so they are not sent there.
 */
function isForeign({ url }: Call, settings: Settings): boolean {
  return url !== undefined && new URL(url).origin !== new URL(settings.url).origin;
}

/**
 * Returns whether a request can be repeated safely. A POST can be repeated if it has an
 * Idempotency-Key. A PATCH sets fields to fixed values, so it can be repeated, unless it has
 * If-Match: if the first attempt succeeded, the ETag has changed and the second attempt is
 * rejected.
 */
function isRepeatable(method: string, headers: Readonly<Record<string, string>>): boolean {
  if (method === "POST") return "idempotency-key" in headers;
  return method !== "PATCH" || !("if-match" in headers);
}

function bodyOf({ body, bodyType }: Call): { type: string; content: Content } | undefined {
  if (body === undefined) return undefined;
  if (bodyType !== undefined && (typeof body === "string" || body instanceof Blob))
    return { type: bodyType, content: body };
  return { type: "application/json", content: JSON.stringify(body) };
}

/**
 * Inserts the values of the parameters into the path.
 * @throws TypeError if a value is empty, `.` or `..`, which would change the path, or a number that
 *   is no safe integer
 */
function fillPath(path: string, params: readonly (string | number)[], operation: string): string {
  let next = 0;
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[next++];
    const isValid =
      typeof value === "string" ? !/^\.{0,2}$/.test(value) : Number.isSafeInteger(value);
    if (value === undefined || !isValid)
      throw new TypeError(
        `${operation}: ${name} must be a non-empty string other than . and .., or an integer`,
      );
    return encodeURIComponent(value);
  });
}

function queryString(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return given.length === 0
    ? ""
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/**
 * Maximum milliseconds from the first attempt of a request with an Idempotency-Key to its last one.
 * The server recognizes a key for a day or longer. After that, it would execute a repeated request
 * a second time.
 */
export const maxRepeatMs = 23 * 3_600_000;

/**
 * Returns a random Idempotency-Key: 128 bits in hexadecimal. Store it before a call to repeat the
 * call after a restart. Unlike `crypto.randomUUID`, it works in pages served over plain HTTP.
 */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
