import { expect, test } from "vitest";
import { createFailedAuthentications } from "./failed-authentications.ts";

const codesOf = (addresses: readonly string[]) => {
  const failures = createFailedAuthentications(1);
  return addresses.map((address) => failures.countFailure(address, "No.").code);
};

test.each([
  ["a VLAN", "fe80::1%eth0.100"],
  ["a bridge", "fe80::1%br-lan"],
  ["a name with an underscore", "fe80::1%wlan_0"],
])("a link-local address of %s is counted like any other", (_what, address) => {
  expect(codesOf([address, address])).toEqual(["unauthorized", "too_many_requests"]);
});

test("text that is no address is counted as it is", () => {
  expect(codesOf(["unknown", "unknown", "other"])).toEqual([
    "unauthorized",
    "too_many_requests",
    "unauthorized",
  ]);
});
