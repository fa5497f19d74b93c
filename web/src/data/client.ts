import { type BeckonClient, createClient } from "@beckon/client";
import { fetchOnce } from "./early-responses.ts";

/** Three attempts after the first take about four seconds; then the screen shows the error. */
const retries = 3;

/** Calls about the signed-in person, which belong to no workspace. */
export const account: BeckonClient = createClient({
  url: location.origin,
  retries,
  fetch: fetchOnce,
});

const clients = new Map<string, BeckonClient>();

/**
 * Returns the client whose calls name this workspace. The session cookie authenticates: browsers
 * send it with every request to the page's own origin.
 */
export function clientOf(workspaceId: string): BeckonClient {
  const known = clients.get(workspaceId);
  if (known !== undefined) return known;
  const client = createClient({
    url: location.origin,
    retries,
    fetch: fetchOnce,
    headers: { "beckon-workspace": workspaceId },
  });
  clients.set(workspaceId, client);
  return client;
}
