import { isIP, isIPv6 } from "node:net";
import { type buildConnector, errors } from "undici";
import { within } from "../clock.ts";
import { notPublic } from "./egress-denied.ts";
import type { OpenPinned } from "./open-pinned.ts";
import { isPublicAddress } from "./public-address.ts";
import type { Resolve } from "./resolve-host.ts";

interface CheckedConnectorOptions {
  /**
   * Targets that can be called although their address is not public, each in the form of
   * `parseHostPort`.
   */
  readonly allow: ReadonlySet<string>;
  /** Maximum milliseconds to resolve a name. */
  readonly timeoutMs: number;
  readonly resolve: Resolve;
  readonly open: OpenPinned;
}

/**
 * Returns the connector with which undici opens every connection of a pool. The connector resolves
 * the host name, checks all addresses of the name and connects only to these addresses. A DNS
 * record that changes between check and connect (DNS rebinding) therefore has no effect, and every
 * new connection is checked again.
 *
 * The check is here and not before each call, so that a call over an open connection needs no
 * lookup, and no code can open a connection without the check. undici's `Agent` has one pool per
 * scheme, host and port, and the entries of `allow` consist only of host and port, so all calls of
 * a pool have the same check result.
 */
export function createCheckedConnector(options: CheckedConnectorOptions): buildConnector.connector {
  return (target, callback) => {
    void checkedAddresses(target, options)
      .then((addresses) => options.open(addresses, target, callback))
      .catch((thrown: unknown) =>
        callback(
          thrown instanceof Error ? thrown : new Error("no connection", { cause: thrown }),
          null,
        ),
      );
  };
}

type Target = Pick<buildConnector.Options, "hostname" | "port" | "protocol">;

/**
 * Returns the addresses of the target's host.
 * @throws EgressDenied if one of the addresses is not public and the target is not in `allow`;
 *   ConnectTimeoutError if the name is not resolved within `timeoutMs`; the error of the resolver,
 *   or one with the code ENOTFOUND if the name has no address.
 */
export async function checkedAddresses(
  target: Target,
  { allow, timeoutMs, resolve }: Omit<CheckedConnectorOptions, "open">,
): Promise<readonly string[]> {
  const { hostname } = target;
  const addresses =
    isIP(hostname) === 0 ? await within(resolve(hostname), timeoutMs, unresolved) : [hostname];
  if (addresses.length === 0)
    throw Object.assign(new Error("the name has no address"), { code: "ENOTFOUND" });
  const hostPort = hostPortOf(target);
  if (!allow.has(hostPort) && !addresses.every(isPublicAddress)) throw notPublic(hostPort);
  return addresses;
}

/**
 * Returns the target in the form of `parseHostPort`. undici removes the brackets of IPv6 and omits
 * the scheme's default port.
 */
export function hostPortOf({ hostname, port, protocol }: Target): string {
  return `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
}

const unresolved = () => new errors.ConnectTimeoutError("the name was not resolved in time");
