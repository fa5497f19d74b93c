import fc from "fast-check";
import { expect, test } from "vitest";
import { isPublicAddress } from "./public-address.ts";

/** Blocks that are not public, each with its first and last address and its public neighbours. */
const blocks: readonly {
  block: string;
  inside: readonly string[];
  neighbours: readonly string[];
}[] = [
  { block: "0.0.0.0/8", inside: ["0.0.0.0", "0.255.255.255"], neighbours: ["1.0.0.0"] },
  {
    block: "10.0.0.0/8",
    inside: ["10.0.0.0", "10.255.255.255"],
    neighbours: ["9.255.255.255", "11.0.0.0"],
  },
  {
    block: "100.64.0.0/10",
    inside: ["100.64.0.0", "100.127.255.255"],
    neighbours: ["100.63.255.255", "100.128.0.0"],
  },
  {
    block: "127.0.0.0/8",
    inside: ["127.0.0.0", "127.255.255.255"],
    neighbours: ["126.255.255.255", "128.0.0.0"],
  },
  {
    block: "169.254.0.0/16",
    inside: ["169.254.0.0", "169.254.255.255"],
    neighbours: ["169.253.255.255", "169.255.0.0"],
  },
  {
    block: "172.16.0.0/12",
    inside: ["172.16.0.0", "172.31.255.255"],
    neighbours: ["172.15.255.255", "172.32.0.0"],
  },
  {
    block: "192.0.0.0/24",
    inside: ["192.0.0.0", "192.0.0.255"],
    neighbours: ["191.255.255.255", "192.0.1.0"],
  },
  {
    block: "192.0.2.0/24",
    inside: ["192.0.2.0", "192.0.2.255"],
    neighbours: ["192.0.1.255", "192.0.3.0"],
  },
  {
    block: "192.31.196.0/24",
    inside: ["192.31.196.0", "192.31.196.255"],
    neighbours: ["192.31.195.255", "192.31.197.0"],
  },
  {
    block: "192.52.193.0/24",
    inside: ["192.52.193.0", "192.52.193.255"],
    neighbours: ["192.52.192.255", "192.52.194.0"],
  },
  {
    block: "192.88.99.0/24",
    inside: ["192.88.99.0", "192.88.99.255"],
    neighbours: ["192.88.98.255", "192.88.100.0"],
  },
  {
    block: "192.168.0.0/16",
    inside: ["192.168.0.0", "192.168.255.255"],
    neighbours: ["192.167.255.255", "192.169.0.0"],
  },
  {
    block: "192.175.48.0/24",
    inside: ["192.175.48.0", "192.175.48.255"],
    neighbours: ["192.175.47.255", "192.175.49.0"],
  },
  {
    block: "198.18.0.0/15",
    inside: ["198.18.0.0", "198.19.255.255"],
    neighbours: ["198.17.255.255", "198.20.0.0"],
  },
  {
    block: "198.51.100.0/24",
    inside: ["198.51.100.0", "198.51.100.255"],
    neighbours: ["198.51.99.255", "198.51.101.0"],
  },
  {
    block: "203.0.113.0/24",
    inside: ["203.0.113.0", "203.0.113.255"],
    neighbours: ["203.0.112.255", "203.0.114.0"],
  },
  {
    block: "224.0.0.0/3",
    inside: ["224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255"],
    neighbours: ["223.255.255.255"],
  },
  {
    block: "Azure's WireServer",
    inside: ["168.63.129.16"],
    neighbours: ["168.63.129.15", "168.63.129.17"],
  },
  {
    block: "below 2000::/3",
    inside: ["::", "::1", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    neighbours: ["2000::"],
  },
  {
    block: "2001::/23",
    inside: ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
    neighbours: ["2000:ffff::", "2001:200::"],
  },
  {
    block: "2001:db8::/32",
    inside: ["2001:db8::", "2001:db8:ffff::"],
    neighbours: ["2001:db7:ffff::", "2001:db9::"],
  },
  {
    block: "2002::/16",
    inside: ["2002::", "2002:808:808::1", "2002:ffff::"],
    neighbours: ["2001:ffff::", "2003::"],
  },
  {
    block: "2620:4f:8000::/48",
    inside: ["2620:4f:8000::", "2620:4f:8000:ffff::"],
    neighbours: ["2620:4f:7fff::", "2620:4f:8001::"],
  },
  {
    block: "3fff::/20",
    inside: ["3fff::", "3fff:fff:ffff::"],
    neighbours: ["3ffe:ffff::", "3fff:1000::"],
  },
  {
    block: "above 2000::/3",
    inside: ["4000::", "5f00::1", "fc00::", "fe80::1", "fec0::1", "ff02::1"],
    neighbours: ["3fff:ffff::"],
  },
  {
    block: "ISATAP of an address that is not public",
    inside: ["2a00::5efe:10.0.0.1", "2a00::200:5efe:127.0.0.1", "2a00:1:2:3:0:5efe:a9fe:a9fe"],
    neighbours: [
      "2a00::5efe:8.8.8.8",
      "2a00::200:5efe:808:808",
      "2a00::5eff:10.0.0.1",
      "2a00::100:5efe:10.0.0.1",
    ],
  },
];

test.each(blocks)("$block is not public, its neighbours are", ({ inside, neighbours }) => {
  expect(inside.filter(isPublicAddress)).toEqual([]);
  expect(neighbours.filter((address) => !isPublicAddress(address))).toEqual([]);
});

test.each([
  "",
  "localhost",
  "8.8.8",
  "08.8.8.8",
  "0x8.8.8.8",
  "134744072",
  "8.8.8.8 ",
  "[2a00::1]",
  "2a00::1%eth0",
  "fe80::1%1",
])("%j is not an address, so not a public one", (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

test.each([
  "8.8.8.8",
  "1.1.1.1",
  "100.0.0.1",
  "2606:4700:4700::1111",
  "2A00:1450:4001:0830:0000:0000:0000:200E",
])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test("no IPv4 address, public or not, is public when embedded in IPv6", () => {
  const part = fc.integer({ min: 0, max: 0xffff });
  const prefixes = ["::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::"];
  fc.assert(
    fc.property(part, part, fc.constantFrom(...prefixes), (high, low, prefix) => {
      expect(isPublicAddress(`${prefix}${high.toString(16)}:${low.toString(16)}`)).toBe(false);
      expect(isPublicAddress(`2002:${high.toString(16)}:${low.toString(16)}::1`)).toBe(false);
      expect(isPublicAddress(`2001:0:${high.toString(16)}:${low.toString(16)}::1`)).toBe(false);
    }),
  );
});
