/** An HTTP response with its parsed JSON body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the body can be any JSON
  readonly body: any;
}

export type Call = (
  path: string,
  options?: {
    method?: string;
    key?: string | null;
    body?: unknown;
    headers?: Record<string, string>;
  },
) => Promise<Answer>;

/**
 * Returns a function that requests paths below `/api/public`, or absolute URLs. The default method
 * is POST if there is a body, else GET. The default credential is the result of `key()`; if the
 * option `key` is null, none is sent.
 */
export function caller(url: () => string, key: () => string): Call {
  return async (path, { method, key: given, body, headers } = {}) => {
    const credential = given === undefined ? key() : given;
    const response = await fetch(path.startsWith("http") ? path : `${url()}/api/public${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(credential === null ? {} : { "x-api-key": credential }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
  };
}
