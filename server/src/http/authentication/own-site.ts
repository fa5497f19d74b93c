import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { ApiError } from "../../base/errors.ts";
import { headerOf } from "../request/index.ts";
import type { Services } from "../services.ts";

/**
 * Rejects requests that a page of another site made a browser send with the session's cookie, in
 * addition to SameSite=Strict. For every request that a cookie authenticates or that creates or
 * uses accounts. Not for keys: no browser adds one by itself.
 *
 * - `Host` must be PUBLIC_URL's host, localhost or an IP literal (prevents DNS rebinding).
 * - `Origin` must be that of PUBLIC_URL or of the `Host`.
 * - `Sec-Fetch-Site`, which browsers add and pages cannot set, must not be another origin.
 *
 * @param strict requires `Origin` on all methods but GET and HEAD: browsers send it there
 * @throws ApiError `misdirected` for the host, `forbidden` for the rest
 */
export function requireOwnSite(
  services: Services,
  incoming: IncomingMessage,
  { strict }: { strict: boolean },
): void {
  const own = new URL(services.publicUrl());
  const host = headerOf(incoming, "host")?.toLowerCase();
  if (host === undefined || !isOwnHost(host, own)) {
    throw new ApiError(
      "misdirected",
      `The Host header ${JSON.stringify(host ?? "")} is not this server: browsers can use ${own.origin}, localhost and IP addresses. Set PUBLIC_URL to the address that people use, and let a proxy in front forward the Host header.`,
    );
  }
  const origin = headerOf(incoming, "origin");
  const isWrite = incoming.method !== "GET" && incoming.method !== "HEAD";
  const hasOwnOrigin =
    origin === undefined ? !(strict && isWrite) : origin === own.origin || hostOf(origin) === host;
  const site = headerOf(incoming, "sec-fetch-site") ?? "none";
  if (hasOwnOrigin && (site === "none" || site === "same-origin")) return;
  throw new ApiError(
    "forbidden",
    "This request comes from a page of another site, which cannot use the session. If it is this site, set PUBLIC_URL to the address in the browser; programs use a key.",
  );
}

function isOwnHost(host: string, own: URL): boolean {
  if (host === own.host) return true;
  const name = /^(\[[0-9a-f:.]+\]|[^:]*)(?::\d+)?$/.exec(host)?.[1] ?? "";
  return (
    name === "localhost" || name === own.hostname || isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0
  );
}

/** Returns `host:port` of an origin, as in a Host header. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host || undefined : undefined;
}
