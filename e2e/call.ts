/** What a caller got. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the server sent
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

/** Calls paths below `/api/public`, or any URL; POST when there is a body, else GET; with `key` unless another one or null is given. */
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
