import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { ApiError } from "../../base/errors.ts";
import { headerOf } from "../request/index.ts";
import type { Services } from "../services.ts";

/**
 * Prevents cross-site request forgery, in addition to SameSite=Strict: rejects requests that a page
 * of another site caused a browser to send. Applies to all routes about accounts and to every
 * request that the session's cookie authenticates. Does not apply to requests with a key, because
 * browsers do not add keys by themselves.
 *
 * - `Host` must be PUBLIC_URL's host, localhost or an IP literal (prevents DNS rebinding).
 * - `Origin`, if present, must be the origin of PUBLIC_URL or have the host and port of `Host`.
 * - If PUBLIC_URL is https, the page of `Origin` must be too, except on the loopback interface:
 *   browsers drop the session's cookie, which is sent over TLS only, so nobody could sign in.
 * - `Sec-Fetch-Site`, which browsers add and pages cannot set, must be `same-origin`, `none` or
 *   absent.
 *
 * @param strict rejects requests without `Origin`, except GET and HEAD: browsers send this header
 *   with all other methods
 * @throws ApiError `misdirected` for a wrong `Host` or a page over http, `forbidden` for the other
 *   headers
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
  if (own.protocol === "https:" && origin === `http://${host}` && !isLoopback(host)) {
    throw new ApiError(
      "misdirected",
      `Browsers keep no session of this server at ${origin}, because PUBLIC_URL is https. Open the dashboard at ${own.origin}.`,
    );
  }
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
  const name = withoutPort(host);
  return (
    name === "localhost" || name === own.hostname || isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0
  );
}

/** Returns the name or address of a Host header, with the brackets of IPv6; "" if invalid. */
function withoutPort(host: string): string {
  return /^(\[[0-9a-f:.]+\]|[^:]*)(?::\d+)?$/.exec(host)?.[1] ?? "";
}

/** Returns whether browsers treat pages over http at the host like those over https. */
function isLoopback(host: string): boolean {
  const name = withoutPort(host);
  return name === "localhost" || name.endsWith(".localhost") || /^(127\.|\[::1\]$)/.test(name);
}

/** Returns the host and port of an origin in the format of a Host header; undefined if invalid. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host || undefined : undefined;
}
