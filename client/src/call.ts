import type { CallOptions, OnceOptions, Settings } from "./options.ts";

/** One operation with its values, as the generated functions hand it on. */
export interface Call {
  readonly method: string;
  /** Below `/api/public`, with the names of its parameters, for example `/agents/{agent_id}`. Errors show it, and no value. */
  readonly path: string;
  /** In the path's order. */
  readonly params?: readonly string[];
  readonly query?: object | undefined;
  /** A string or bytes are sent as they are if `bodyType` says as what; anything else as JSON. */
  readonly body?: unknown;
  readonly bodyType?: string;
  readonly accept?: string;
  /** It takes an Idempotency-Key. */
  readonly once?: boolean;
  /** It needs no key, and none is sent. */
  readonly open?: boolean;
  readonly headers?: Readonly<Record<string, string | number | undefined>>;
  /** Another Beckon than the client's. */
  readonly url?: string;
}

type Content = string | Blob | Uint8Array<ArrayBuffer>;

/** What all tries of a call send. */
export interface Prepared {
  readonly url: string;
  readonly init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: Content;
    readonly redirect: "manual";
  };
  /** Doing it twice has the effect of doing it once. */
  readonly repeatable: boolean;
  /** For errors. */
  readonly what: string;
}

/** @throws TypeError */
export function prepare(
  settings: Settings,
  call: Call,
  options: CallOptions & OnceOptions,
): Prepared {
  const { method, path, params = [], query = {} } = call;
  const what = `${method} ${path}`;
  const headers: Record<string, string> = {
    ...settings.headers,
    accept: call.accept ?? "application/json",
  };
  const key = call.open ? undefined : (options.key ?? settings.key);
  if (key !== undefined) headers["x-api-key"] = key;
  if (call.once) headers["idempotency-key"] = options.idempotencyKey ?? newKey();
  for (const [name, value] of Object.entries(call.headers ?? {}))
    if (value !== undefined) headers[name.toLowerCase()] = String(value);
  const body = bodyOf(call);
  if (body !== undefined) headers["content-type"] = body.type;
  if (!Object.values(headers).every((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value))) {
    throw new TypeError(`${what}: the key, or a header, has characters that HTTP cannot carry`);
  }
  return {
    url: `${call.url ?? settings.url}/api/public${filled(path, params, what)}${asQuery(query)}`,
    init: {
      method,
      headers,
      ...(body === undefined ? {} : { body: body.content }),
      redirect: "manual",
    },
    repeatable: isRepeatable(method, headers),
    what,
  };
}

/** A repeated PATCH sets the same to the same; with If-Match it would be refused because of its own first try. */
function isRepeatable(method: string, headers: Readonly<Record<string, string>>): boolean {
  if (method === "POST") return "idempotency-key" in headers;
  return method !== "PATCH" || !("if-match" in headers);
}

function bodyOf({ body, bodyType }: Call): { type: string; content: Content } | undefined {
  if (body === undefined) return undefined;
  if (
    bodyType !== undefined &&
    (typeof body === "string" || body instanceof Uint8Array || body instanceof Blob)
  ) {
    return { type: bodyType, content: body as Content };
  }
  return { type: "application/json", content: JSON.stringify(body) };
}

/** An empty value, or dots, would make it another path. */
function filled(path: string, params: readonly string[], what: string): string {
  let next = 0;
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[next++];
    if (typeof value !== "string" || /^\.{0,2}$/.test(value))
      throw new TypeError(`${what}: ${name} must be a text that is not empty`);
    return encodeURIComponent(value);
  });
}

function asQuery(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return given.length === 0
    ? ""
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** Random, 128 bits. (`crypto.randomUUID` is missing in pages that came over plain HTTP.) */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
