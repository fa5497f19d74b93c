import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { addressOf } from "./request.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["192.0.2.1:4711", "192.0.2.1"],
  ["2001:db8::1", "2001:db8::1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["[2001:db8::1]:4711", "2001:db8::1"],
  ["198.51.100.9, 192.0.2.1:4711", "192.0.2.1"],
  ["", "unknown"],
])("behind a trusted proxy, %j names the address %s", (header, address) => {
  const incoming = new IncomingMessage(new Socket());
  incoming.headers["x-forwarded-for"] = header;
  expect(addressOf(incoming, 1)).toBe(address);
  expect(addressOf(incoming, 0)).toBe("unknown");
});

test.each([
  ["198.51.100.9, 192.0.2.1, 10.0.0.2", "192.0.2.1"],
  ["192.0.2.1:4711, 10.0.0.2", "192.0.2.1"],
  ["198.51.100.9", "unknown"],
  [" , 10.0.0.2", "unknown"],
])("behind two trusted proxies, %j names the address %s", (header, address) => {
  const incoming = new IncomingMessage(new Socket());
  incoming.headers["x-forwarded-for"] = header;
  expect(addressOf(incoming, 2)).toBe(address);
});
