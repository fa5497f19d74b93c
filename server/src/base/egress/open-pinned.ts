import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";

/** Opens a connection to one of the addresses, trying the next when one does not answer soon (RFC 8305). */
export type OpenPinned = (
  addresses: readonly string[],
  target: buildConnector.Options,
  callback: buildConnector.Callback,
) => void;

/**
 * undici's connector, which is never given a name to connect to: where it would, it gets the list of addresses, and the
 * "lookup" of that list takes it apart again. TLS still asks for and verifies the name, which is in `servername` or `host`.
 *
 * Rejected: a connector for every connection with its own `lookup` (it would hold no TLS sessions to resume), and one address
 * only (a host with IPv6 that leads nowhere would be away).
 */
export function createOpenPinned(timeoutMs: number): OpenPinned {
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    autoSelectFamily: true,
    lookup: takeApart,
  });
  return (addresses, target, callback) =>
    connect({ ...target, hostname: addresses.join(",") }, callback);
}

const takeApart: LookupFunction = (list, { all }, callback) => {
  const addresses = list.split(",").map((address) => ({ address, family: isIP(address) }));
  const [first] = addresses;
  if (all || first === undefined) callback(null, addresses);
  else callback(null, first.address, first.family);
};
