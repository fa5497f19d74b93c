import { AsyncLocalStorage } from "node:async_hooks";
import { isIP } from "node:net";
import { badPorts } from "./bad-ports.ts";
import { checkedAddresses, createCheckedConnector, hostPortOf } from "./checked-connector.ts";
import { badPort, EgressDenied } from "./egress-denied.ts";
import { createLeanFetch, type LeanFetch, type LeanFetchOptions } from "./lean-fetch.ts";
import { createOpenPinned, type OpenPinned } from "./open-pinned.ts";
import { isPublicAddress } from "./public-address.ts";
import { createLookups, type Lookups, limitLookups, type Resolve } from "./resolve-host.ts";

/** Limits of outbound calls on behalf of a tenant. */
export interface EgressOptions extends LeanFetchOptions {
  /**
   * Maximum milliseconds to resolve a name. Connecting to its addresses, including TLS, can take as
   * long again.
   */
  readonly connectTimeoutMs: number;
  /** Maximum milliseconds from the call to the end of the response body. */
  readonly totalTimeoutMs: number;
  /**
   * Hosts that the operator allows although they are not public, each in the form of
   * `parseHostPort`. A name allows that name with that port, regardless of its addresses. An
   * address allows URLs that contain that address with that port, in any notation that the URL
   * standard accepts, but neither a name that resolves to it nor an IPv6 address that embeds it. A
   * name with a trailing dot is a different name.
   */
  readonly allow: readonly string[];
  /**
   * The result of `createLookups`, which the transports of a process share: each limits its lookups
   * so that threads are left for others. Default: one for this transport alone.
   */
  readonly lookups?: Lookups;
}

/** The transport of calls on a tenant's behalf. */
export interface Egress extends LeanFetch {
  /**
   * Returns what the operator must add to BECKON_EGRESS_ALLOW, as `host:port`, before this http or
   * https URL can be called, because its host is not public. Returns undefined if nothing must be
   * added. A name is resolved for at most one second. If that fails, the result is undefined too;
   * each call checks the host again.
   * @param workspaceId the workspace in which the URL was entered
   */
  missingException(url: URL, workspaceId: string): Promise<string | undefined>;
  /**
   * Like `missingException`, but resolves no names. The result is undefined for every name except
   * `localhost` and the names below it, which mean this machine (RFC 6761, section 6.3).
   */
  missingAddressException(url: URL): string | undefined;
}

const callers = new AsyncLocalStorage<string>();

/**
 * Calls `act`. Its calls over any egress look up names within the workspace's share of lookups. The
 * workspace is in the asynchronous context, because undici passes nothing from a call to the
 * connector.
 */
export function onBehalfOf<T>(workspaceId: string, act: () => T): T {
  return callers.run(workspaceId, act);
}

/** Maximum time in which `missingException` resolves a name. */
const lookupTimeoutMs = 1_000;

/** Functions that tests replace, because tests have no public addresses. */
export interface EgressTestHooks {
  /** Replaces the system's resolver and `lookups`. */
  readonly resolve?: Resolve;
  readonly open?: OpenPinned;
}

/**
 * Creates the transport for every call on behalf of a tenant, for example by a tool or to a
 * workspace's own provider; `onBehalfOf` sets the workspace. It reaches public addresses over http
 * and https, except on the ports in `badPorts`. It also reaches the hosts in `options.allow`. For
 * anything else it throws `EgressDenied` before it opens a connection, so the error and its timing
 * do not reveal whether a port is open.
 *
 * URLs are parsed by the URL standard only, which normalizes every notation of an IPv4 address
 * (decimal, octal, hex, short, full-width characters, trailing dot) before the check. An invalid
 * URL, or one with an IPv6 zone, is a `TypeError`.
 *
 * As with `createLeanFetch`, a redirect is returned as it is. If the caller follows it, this is a
 * new call with its own check. Proxy environment variables are ignored, because a proxy would
 * resolve names without the check. The header `Host` cannot be set, so that a request reaches only
 * the site that was checked.
 */
export function createEgress(options: EgressOptions, testHooks: EgressTestHooks = {}): Egress {
  const allow = new Set(options.allow);
  const lookups =
    testHooks.resolve === undefined
      ? (options.lookups ?? createLookups())
      : createLookups(testHooks.resolve);
  const checks = limitLookups(lookups);
  const connect = createCheckedConnector({
    allow,
    timeoutMs: options.connectTimeoutMs,
    resolve: (name) => lookups(name, callers.getStore()),
    open: testHooks.open ?? createOpenPinned(options.connectTimeoutMs),
  });
  return {
    ...createLeanFetch(options, connect, (url, headers) => checkRequest(url, headers, allow)),
    async missingException(url, workspaceId) {
      const resolve = (name: string) =>
        checks(name, workspaceId, AbortSignal.timeout(lookupTimeoutMs));
      try {
        await checkedAddresses(targetOf(url), { allow, timeoutMs: lookupTimeoutMs, resolve });
        return undefined;
      } catch (thrown) {
        return thrown instanceof EgressDenied ? thrown.hostPort : undefined;
      }
    },
    missingAddressException(url) {
      const target = targetOf(url);
      const { hostname } = target;
      const isPublic =
        isIP(hostname) === 0 ? !/(^|\.)localhost$/.test(hostname) : isPublicAddress(hostname);
      const hostPort = hostPortOf(target);
      return isPublic || allow.has(hostPort) ? undefined : hostPort;
    },
  };
}

/** Returns the target of a URL as undici passes it to a connector: IPv6 without brackets. */
function targetOf({ hostname, port, protocol }: URL) {
  return { hostname: hostname.replace(/^\[|\]$/g, ""), port, protocol };
}

/**
 * Checks scheme, credentials, `Host` header and port; the connector checks the host.
 * @throws EgressDenied if one of them is not allowed.
 */
function checkRequest(url: URL, headers: RequestInit["headers"], allow: ReadonlySet<string>): void {
  const { protocol } = url;
  if (protocol !== "https:" && protocol !== "http:")
    throw new EgressDenied("Only http and https URLs can be called.");
  if (url.username !== "" || url.password !== "") {
    throw new EgressDenied(
      "A URL with a user name or password in it cannot be called; send credentials in a header.",
    );
  }
  if (namesHost(headers))
    throw new EgressDenied("The header Host cannot be set; it is the host of the URL.");
  if (url.port === "" || !badPorts.has(Number(url.port))) return;
  const hostPort = `${url.hostname}:${url.port}`;
  if (!allow.has(hostPort)) throw badPort(hostPort);
}

function namesHost(headers: RequestInit["headers"]): boolean {
  if (headers === undefined) return false;
  if (headers instanceof Headers) return headers.has("host");
  const names = Array.isArray(headers) ? headers.map(([name]) => name) : Object.keys(headers);
  return names.some((name) => name?.length === 4 && name.toLowerCase() === "host");
}
