import { badPorts } from "./bad-ports.ts";
import { checkedAddresses, createCheckedConnector } from "./checked-connector.ts";
import { badPort, EgressDenied } from "./egress-refused.ts";
import { createLeanFetch, type LeanFetch, type LeanFetchOptions } from "./lean-fetch.ts";
import { createOpenPinned, type OpenPinned } from "./open-pinned.ts";
import { type Resolve, resolveHost, sharingAnswers } from "./resolve-host.ts";

/** What outbound calls on a tenant's behalf are limited to. */
export interface EgressOptions extends LeanFetchOptions {
  /** Milliseconds to resolve a name, and again to open a connection to its addresses, TLS included. */
  readonly connectTimeoutMs: number;
  /** Milliseconds from the call to the end of its answer's body. */
  readonly totalTimeoutMs: number;
  /**
   * What the operator opened, each as `parseHostPort` writes it. A name means that name with that port, whatever its addresses;
   * an address means URLs that hold that address with that port, in any spelling that the URL standard reads as it, and
   * neither a name that resolves to it nor an IPv6 address that hides it. A trailing dot makes another name.
   */
  readonly allow: readonly string[];
}

/** The transport of calls on a tenant's behalf. */
export interface Egress extends LeanFetch {
  /**
   * Returns the exception, as `host:port`, without which this http or https URL is not called
   * because its host is not public. Resolves a name, for at most a second; undefined too if that
   * fails, since each call checks again.
   */
  missingException(url: URL): Promise<string | undefined>;
}

/** Milliseconds to resolve a name that nobody calls yet. */
const lookupTimeoutMs = 1_000;

/** Replaced in tests only: no test can have public addresses of its own. */
export interface EgressSeams {
  readonly resolve?: Resolve;
  readonly open?: OpenPinned;
}

/**
 * The transport of every call on a tenant's behalf: tools, providers of a workspace, deliveries. Reaches public addresses by http
 * and https, and what the operator opened; everything else is `EgressDenied` before any connection is tried. So a refusal is
 * the same, and as fast, for a port that is open and one that is closed.
 *
 * URLs are read by the URL standard only: it turns every spelling of an IPv4 address (decimal, octal, hex, short, full-width
 * letters and dots, trailing dot) into the same four numbers before anything here looks at it. A URL it cannot read, one with
 * an IPv6 zone too, is a `TypeError`.
 *
 * As with the lean fetch a redirect is returned as it is; following it is another call, judged like the first. Proxy variables
 * of the environment are not read: a proxy would resolve names behind our back. The header `Host` cannot be set: a request
 * must not reach another site than the one that was judged.
 */
export function createEgress(options: EgressOptions, seams: EgressSeams = {}): Egress {
  const allow = new Set(options.allow);
  const resolve = sharingAnswers(seams.resolve ?? resolveHost);
  const connect = createCheckedConnector({
    allow,
    timeoutMs: options.connectTimeoutMs,
    resolve,
    open: seams.open ?? createOpenPinned(options.connectTimeoutMs),
  });
  return {
    ...createLeanFetch(options, connect, (url, headers) => admit(url, headers, allow)),
    async missingException({ hostname, port, protocol }) {
      const target = { hostname: hostname.replace(/^\[|\]$/g, ""), port, protocol };
      try {
        await checkedAddresses(target, { allow, timeoutMs: lookupTimeoutMs, resolve });
        return undefined;
      } catch (thrown) {
        return thrown instanceof EgressDenied ? thrown.hostPort : undefined;
      }
    },
  };
}

/** @throws EgressDenied for what can be told from the request alone, but for its host. */
function admit(url: URL, headers: RequestInit["headers"], allow: ReadonlySet<string>): void {
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
