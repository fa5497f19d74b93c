import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** In public space, but answered by the machine below ours: Azure's WireServer, which gives out certificates and configuration. */
const insidePublicSpace = new Set(["168.63.129.16"]);

/**
 * Whether an IP address is one of the open internet's. What is not plainly public is not: unknown, reserved, of one network
 * only, or a way to say another address.
 *
 * IPv4: everything outside IANA's special-purpose registry (RFC 6890 and its updates), as `ipaddr.js` lists it: 0/8, 10/8,
 * 100.64/10, 127/8, 169.254/16, 172.16/12, 192.0.0/24, 192.0.2/24, 192.88.99/24, 192.168/16, 198.18/15, 198.51.100/24,
 * 203.0.113/24, 224/4, 240/4, and the anycast nets of AS112 and AMT.
 *
 * IPv6: only 2000::/3, the one block IANA gives out from (RFC 4291, RFC 3513), without what is special inside it: 2001::/23
 * (Teredo, benchmarking, ORCHID, …), 2001:db8::/32, 3fff::/20, 2002::/16 (6to4), 2620:4f:8000::/48. All that hides an IPv4
 * address lies outside (mapped, compatible, translated, NAT64 64:ff9b::/96 and 64:ff9b:1::/48) or is refused whole (6to4,
 * Teredo), whatever address it hides: nobody needs these to be called. Only ISATAP (RFC 5214) can have any prefix, so the
 * address in its interface identifier is judged.
 *
 * Not recognised: a NAT64 with a prefix of the network's own (RFC 6052, 2.2) looks like any other address.
 *
 * Rejected: a list of what is forbidden (IPv6 is mostly unassigned, and a new special block would be open until someone
 * noticed), and judging the text of an address (`::ffff:7f00:1` has many).
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes("%") || insidePublicSpace.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  if (!(parsed instanceof ipaddr.IPv6)) return true;
  if (!parsed.match(globalUnicast)) return false;
  const hidden = isatapAddress(parsed.parts);
  return hidden === undefined || isPublicAddress(hidden);
}

/** The IPv4 address of an interface identifier `0000:5efe:…` or, marked as unique, `0200:5efe:…`. */
function isatapAddress([, , , , unique = 0, mark, high = 0, low = 0]: readonly number[]):
  | string
  | undefined {
  if ((unique & ~0x0200) !== 0 || mark !== 0x5efe) return undefined;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}
