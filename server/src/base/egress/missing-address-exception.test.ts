import { afterAll, expect, test } from "vitest";
import { createEgress } from "./index.ts";

const lookups: string[] = [];
const timeoutMs = 20_000;
const egress = createEgress(
  {
    connectTimeoutMs: timeoutMs,
    headersTimeoutMs: timeoutMs,
    bodyTimeoutMs: timeoutMs,
    totalTimeoutMs: timeoutMs,
    allow: ["10.0.0.6:8080"],
  },
  {
    resolve: async (name) => {
      lookups.push(name);
      return ["10.0.0.1"];
    },
  },
);
afterAll(() => egress.close());

test.each([
  ["http://10.0.0.5:8080/", "10.0.0.5:8080"],
  ["https://[::1]/", "[::1]:443"],
  ["http://127.1/", "127.0.0.1:80"],
  ["http://LOCALHOST:3000/", "localhost:3000"],
  ["http://shop.localhost/", "shop.localhost:80"],
  ["http://10.0.0.6:8080/", undefined],
  ["http://8.8.8.8/", undefined],
  ["http://notlocalhost/", undefined],
  ["http://tool.test/", undefined],
])("of %s, the operator must allow %s, and no name is resolved", (url, expected) => {
  expect(egress.missingAddressException(new URL(url))).toBe(expected);
  expect(lookups).toEqual([]);
});
