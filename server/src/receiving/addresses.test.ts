import { receiving } from "@beckon/contract";
import { expect, test } from "vitest";
import { isAllowedAddress } from "./index.ts";

const allows = (list: string[] | null, address: string | undefined) =>
  isAllowedAddress(receiving.parse({ allowed_addresses: list }), address);

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["192.0.2.0/24", "192.0.2.255"],
  ["192.0.2.0/24", "::ffff:192.0.2.7"],
  ["0.0.0.0/0", "203.0.113.9"],
  ["2001:db8::/32", "2001:db8:1::1"],
  ["2001:DB8::1", "2001:db8:0:0:0:0:0:1"],
  ["::/0", "2001:db8::1"],
  // The address is in the range as `::ffff:203.0.113.9`, its form in IPv6.
  ["::/0", "203.0.113.9"],
])("%s contains %s", (range, address) => expect(allows([range], address)).toBe(true));

test.each([
  ["192.0.2.1", "192.0.2.2"],
  ["192.0.2.0/24", "192.0.3.0"],
  ["0.0.0.0/0", "2001:db8::1"],
  ["2001:db8::/32", "2001:db9::1"],
  ["192.0.2.1", undefined],
  ["0.0.0.0/0", ""],
  ["0.0.0.0/0", "unknown"],
  ["::/0", "not an address"],
  ["fe80::/10", "fe80::1%eth0%x"],
])("%s does not contain %s", (range, address) => expect(allows([range], address)).toBe(false));

test("one of several ranges is enough", () => {
  const github = ["192.30.252.0/22", "185.199.108.0/22", "2a0a:a440::/29"];
  expect(allows(github, "185.199.111.1")).toBe(true);
  expect(allows(github, "2a0a:a440::1")).toBe(true);
  expect(allows(github, "192.0.2.1")).toBe(false);
});

test("without a list every address is allowed, also an unknown one", () => {
  expect(allows(null, "203.0.113.9")).toBe(true);
  expect(allows(null, undefined)).toBe(true);
});
