import { type BeckonClient, BeckonError, type CallOptions, createClient } from "@beckon/client";
import { fetchOnce } from "./early-responses.ts";
import { readingTime } from "./server-time.ts";

/**
 * Maximum number of retries of a call. If the last retry fails too, the screen shows the error. The
 * waits before the retries add up to at most 3.5 seconds, unless the server sends `Retry-After`.
 */
const retries = 3;

const send = readingTime(fetchOnce);

/** Aborts when the session ends. */
let session = new AbortController();

let onUnauthorized = () => {};

/**
 * From this call on, calls the function after each response with the status 401. This does not
 * depend on what handles the error of the call: a query, a mutation or a dialog. The SharedWorker
 * has clients of its own, and reports their 401 in its messages (see live.ts).
 */
export function handleUnauthorized(handle: () => void): void {
  onUnauthorized = handle;
}

function createClientOfSession(headers: Readonly<Record<string, string>> = {}): BeckonClient {
  const { signal } = session;
  return createClient({
    url: location.origin,
    retries,
    headers,
    // A retry after the end of the session would have the cookie of the person who has signed in
    // since, and be executed in their name.
    fetch: async (input, init) => {
      signal.throwIfAborted();
      const response = await send(input, init);
      if (response.status === 401) onUnauthorized();
      return response;
    },
  });
}

/**
 * Client for calls about the signed-in person, which belong to no workspace. `endCalls` replaces
 * it, so keep no copy.
 */
export let account: BeckonClient = createClientOfSession();

/**
 * Options of calls that send a password or a one-time link. The status 429 of such a call means
 * that the address had too many failed attempts. Waiting for `Retry-After` would hide that for up
 * to a minute, and then send a wrong password again.
 */
export const sentOnce: CallOptions = { retries: 0 };

const clients = new Map<string, BeckonClient>();

/**
 * Returns the client that adds the workspace's id to each call. Calls are authenticated by the
 * session cookie, which browsers send with every request to the page's own origin.
 */
export function clientOf(workspaceId: string): BeckonClient {
  const known = clients.get(workspaceId);
  if (known !== undefined) return known;
  const client = createClientOfSession({ "beckon-workspace": workspaceId });
  clients.set(workspaceId, client);
  return client;
}

/**
 * Makes calls that wait for a retry fail when the wait is over. Call it when the session has ended,
 * or is that of another person. Calls of the next session need new clients.
 */
export function endCalls(): void {
  const message = "The session has ended. Sign in, and check whether the last change was made.";
  session.abort(new BeckonError({ code: "unauthorized", message }));
  session = new AbortController();
  clients.clear();
  account = createClientOfSession();
}
