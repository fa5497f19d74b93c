/** Calls the public API and returns the response's `data`. @throws if the response is an error. */
export type Api = <T>(
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE",
  path: string,
  body?: object,
) => Promise<T>;

export function openApi(port: number, key: string): Api {
  return async <T>(method: string, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/public${path}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    // A 204 has no body.
    const envelope = JSON.parse(text || '{"ok": true}') as { ok: boolean; data: T };
    if (!envelope.ok) throw new Error(`${method} ${path}: ${JSON.stringify(envelope)}`);
    return envelope.data;
  };
}
