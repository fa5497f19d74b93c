import { type BeckonClient, type CallOptions, createClient } from "@beckon/client";
import { fetchOnce } from "./early-responses.ts";
import { readingTime } from "./server-time.ts";

/**
 * Maximum number of retries of a call. If the last retry fails too, the screen shows the error. The
 * waits before the retries add up to at most 3.5 seconds, unless the server sends `Retry-After`.
 */
const retries = 3;

const options = { url: location.origin, retries, fetch: readingTime(fetchOnce) };

/** Client for calls about the signed-in person, which belong to no workspace. */
export const account: BeckonClient = createClient(options);

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
  const client = createClient({ ...options, headers: { "beckon-workspace": workspaceId } });
  clients.set(workspaceId, client);
  return client;
}
