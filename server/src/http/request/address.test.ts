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
  expect(addressOf(incoming, true)).toBe(address);
  expect(addressOf(incoming, false)).toBe("unknown");
});
