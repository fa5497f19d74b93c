import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Addresses in public ranges that are not public. 168.63.129.16 is Azure's WireServer, which serves
 * certificates and configuration to virtual machines.
 */
const internalPublicAddresses = new Set(["168.63.129.16"]);

/**
 * Returns whether an IP address is globally reachable. Addresses that are unknown, reserved, local
 * to a network or that embed another address count as not public.
 *
 * IPv4: public is every address outside the blocks of IANA's special-purpose registry (RFC 6890 and
 * its updates), which `ipaddr.js` lists: 0/8, 10/8, 100.64/10, 127/8, 169.254/16, 172.16/12,
 * 192.0.0/24, 192.0.2/24, 192.88.99/24, 192.168/16, 198.18/15, 198.51.100/24, 203.0.113/24, 224/4,
 * 240/4, and the anycast networks of AS112 and AMT.
 *
 * IPv6: public is only 2000::/3, the block that IANA allocates from (RFC 4291, RFC 3513), without
 * the special blocks in it: 2001::/23 (Teredo, benchmarking, ORCHID, …), 2001:db8::/32, 3fff::/20,
 * 2002::/16 (6to4), 2620:4f:8000::/48. Addresses that embed an IPv4 address are outside 2000::/3
 * (mapped, compatible, translated, NAT64 64:ff9b::/96 and 64:ff9b:1::/48) or rejected altogether
 * (6to4, Teredo), whatever address they embed. Only ISATAP (RFC 5214) can have any prefix, so the
 * IPv4 address in its interface identifier is checked.
 *
 * Not detected: NAT64 with a network-specific prefix (RFC 6052, 2.2), which looks like any other
 * address.
 *
 * Rejected: a list of forbidden blocks, because most of IPv6 is unassigned and a new special block
 * would be allowed until the list is updated; checking the text of an address, because
 * `::ffff:7f00:1` has many notations.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes("%") || internalPublicAddresses.has(address))
    return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  if (!(parsed instanceof ipaddr.IPv6)) return true;
  if (!parsed.match(globalUnicast)) return false;
  const embedded = isatapAddress(parsed.parts);
  return embedded === undefined || isPublicAddress(embedded);
}

/**
 * Returns the IPv4 address of an ISATAP interface identifier: `0000:5efe:…`, or `0200:5efe:…` if
 * the IPv4 address is globally unique. Returns undefined for all other interface identifiers.
 */
function isatapAddress([, , , , unique = 0, mark, high = 0, low = 0]: readonly number[]):
  | string
  | undefined {
  if ((unique & ~0x0200) !== 0 || mark !== 0x5efe) return undefined;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}
