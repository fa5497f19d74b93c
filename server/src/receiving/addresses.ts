import { BlockList, isIPv6 } from "node:net";
import type { Receiving } from "@beckon/contract";

/** Settings are immutable and used for many requests, so their ranges are parsed once. */
const rangesOf = new WeakMap<readonly string[], BlockList>();

/**
 * Returns whether an IP address is allowed to send to the trigger. An IPv4 address also matches in
 * its form as an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`). An unknown address (undefined) is
 * allowed only if the trigger allows all addresses.
 */
export function isAllowedAddress(
  { allowed_addresses: allowed }: Pick<Receiving, "allowed_addresses">,
  address: string | undefined,
): boolean {
  if (allowed === null) return true;
  if (address === undefined) return false;
  let ranges = rangesOf.get(allowed);
  if (ranges === undefined) {
    ranges = parseRanges(allowed);
    rangesOf.set(allowed, ranges);
  }
  const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  return ranges.check(plain, isIPv6(plain) ? "ipv6" : "ipv4");
}

function parseRanges(allowed: readonly string[]): BlockList {
  const ranges = new BlockList();
  for (const each of allowed) {
    const [address = "", prefix] = each.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (prefix === undefined) ranges.addAddress(address, family);
    else ranges.addSubnet(address, Number(prefix), family);
  }
  return ranges;
}
