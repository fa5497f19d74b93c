import { isIP, isIPv6 } from "node:net";
import { type buildConnector, errors } from "undici";
import { within } from "../clock.ts";
import { notPublic } from "./egress-refused.ts";
import type { OpenPinned } from "./open-pinned.ts";
import { isPublicAddress } from "./public-address.ts";
import type { Resolve } from "./resolve-host.ts";

interface CheckedConnectorOptions {
  /** Exceptions, each as `parseHostPort` writes it. */
  readonly allow: ReadonlySet<string>;
  /** Milliseconds to resolve a name. */
  readonly timeoutMs: number;
  readonly resolve: Resolve;
  readonly open: OpenPinned;
}

/**
 * Makes every connection of a pool: the first, further ones and those that replace a closed one. Resolves the name, judges all
 * its addresses, and connects to these and no other. So it does not matter what a name says between check and connect, or
 * later: a connection kept alive goes on to the address it was checked for, a new one is checked anew.
 *
 * Here and not before each call: a call over a connection that is open costs no lookup, and there is no way to a socket
 * around it. Pools are kept by scheme, host and port (undici's `Agent`), which is all that an exception depends on, so none is
 * used for a host that was judged otherwise.
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
 * @throws EgressDenied if one of them is not public and the target is no exception.
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

/** As `parseHostPort` writes it. undici takes brackets off and leaves the port of the scheme away. */
function hostPortOf({ hostname, port, protocol }: Target): string {
  return `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
}

const unresolved = () => new errors.ConnectTimeoutError("the name was not resolved in time");
