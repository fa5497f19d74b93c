import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";

/**
 * Opens a connection to one of the addresses. If an address does not respond soon, tries the next
 * one (Happy Eyeballs, RFC 8305).
 */
export type OpenPinned = (
  addresses: readonly string[],
  target: buildConnector.Options,
  callback: buildConnector.Callback,
) => void;

/**
 * Returns undici's connector, restricted to the given addresses: they are passed as a
 * comma-separated host name, and `lookup` splits that list instead of resolving it. TLS still
 * verifies the real name, which is in `servername` or `host`.
 *
 * Rejected: a new connector with its own `lookup` per connection, which could not resume TLS
 * sessions; connecting to one address only, which fails for hosts whose IPv6 does not work.
 */
export function createOpenPinned(timeoutMs: number): OpenPinned {
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    autoSelectFamily: true,
    lookup: splitAddresses,
  });
  return (addresses, target, callback) =>
    connect({ ...target, hostname: addresses.join(",") }, callback);
}

const splitAddresses: LookupFunction = (list, { all }, callback) => {
  const addresses = list.split(",").map((address) => ({ address, family: isIP(address) }));
  const [first] = addresses;
  if (all || first === undefined) callback(null, addresses);
  else callback(null, first.address, first.family);
};
