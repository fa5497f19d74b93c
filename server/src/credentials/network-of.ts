import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Returns the network of a client, by which its attempts to authenticate are counted. For IPv4 it
 * is the address, even if this is written as an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2). For
 * IPv6 it is the /64 prefix, because one customer of a network provider has at least a whole /64
 * (RFC 6177). The zone of a link-local address, such as `%eth0`, is removed first, because `ipaddr`
 * cannot parse all names of zones.
 */
export function networkOf(address: string): string {
  const [withoutZone = address] = address.split("%", 1);
  if (isIP(withoutZone) === 0) return address;
  const parsed = ipaddr.process(withoutZone);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
