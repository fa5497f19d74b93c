import { eventually } from "../../server/test/eventually.ts";
import type { SignedIn } from "./accounts.ts";

/** Calls a path below `/api/public`, or a URL, as a signed-in user. */
export type Api = (
  path: string,
  body?: unknown,
  options?: {
    readonly method?: string;
    /** Default: the first workspace of the user. */
    readonly workspace?: string;
    readonly headers?: Record<string, string>;
  },
  // biome-ignore lint/suspicious/noExplicitAny: a response body can have any shape
) => Promise<any>;

/**
 * Returns the function that calls the API for a user. It returns `data` of the response, or the
 * whole body if there is no `data`, and throws on an error response.
 */
export function apiOf(url: string, { cookie, workspaceId }: SignedIn): Api {
  return async (path, body, { method, workspace, headers } = {}) => {
    const response = await fetch(path.startsWith("http") ? path : `${url}/api/public${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        cookie,
        origin: url,
        "beckon-workspace": workspace ?? workspaceId,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${text}`);
    const parsed = text === "" ? undefined : JSON.parse(text);
    return parsed?.data ?? parsed;
  };
}

/**
 * Waits until a run has ended.
 * @param maxMs default: that of `eventually`
 */
export async function runEnded(api: Api, runId: string, maxMs?: number): Promise<void> {
  const isEnded = async () => (await api(`/runs/${runId}`)).finished_at ?? undefined;
  await eventually(`the end of ${runId}`, isEnded, maxMs);
}
