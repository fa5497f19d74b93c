import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { ApiError } from "../../base/errors.ts";
import { headerOf } from "../request/index.ts";
import type { Services } from "../services.ts";

/**
 * A browser sends the session's cookie along whoever made it send the request, so where it comes from is looked at, beside what the cookie
 * says itself (SameSite=Strict). Asked of every request that a cookie authenticates, and of those that make or use accounts; callers with a
 * key are not asked: no browser adds a key by itself.
 *
 * - Host: a name of ours, or no name. Someone else's name that leads to this address (DNS rebinding) would make their page same-origin with us.
 *   Ours are PUBLIC_URL's and localhost; an IP address cannot be made to lead elsewhere.
 * - Origin: PUBLIC_URL's or, reached by another of these hosts, that host's. On what changes something it must be there.
 * - Sec-Fetch-Site, which newer browsers add and no page can set: not of another origin.
 *
 * @param strict Origin must be there on what changes something: browsers send it, and nobody else has a cookie.
 * @throws ApiError `misdirected` for the host, `forbidden` for the rest.
 */
export function requireOwnSite(
  services: Services,
  incoming: IncomingMessage,
  { strict }: { strict: boolean },
): void {
  const own = new URL(services.publicUrl());
  const host = headerOf(incoming, "host")?.toLowerCase();
  if (host === undefined || !isOurs(host, own)) {
    throw new ApiError(
      "misdirected",
      `This server is not ${JSON.stringify(host ?? "")}: browsers are answered at ${own.origin}, localhost and IP addresses. Set PUBLIC_URL to the address that people use, and let a proxy in front pass the Host header on.`,
    );
  }
  const origin = headerOf(incoming, "origin");
  const changes = incoming.method !== "GET" && incoming.method !== "HEAD";
  const originFits =
    origin === undefined ? !(strict && changes) : origin === own.origin || hostOf(origin) === host;
  const site = headerOf(incoming, "sec-fetch-site") ?? "none";
  if (originFits && (site === "none" || site === "same-origin")) return;
  throw new ApiError(
    "forbidden",
    "This request comes from a page of another site, and a session is for this one only. If this is the right one, set PUBLIC_URL to the address in the browser; programs use a key.",
  );
}

function isOurs(host: string, own: URL): boolean {
  if (host === own.host) return true;
  const name = /^(\[[0-9a-f:.]+\]|[^:]*)(?::\d+)?$/.exec(host)?.[1] ?? "";
  return (
    name === "localhost" || name === own.hostname || isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0
  );
}

/** `host:port` of an origin, as a Host header has it. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host || undefined : undefined;
}
