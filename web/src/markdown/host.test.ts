import { expect, test } from "vitest";
import { hostOf } from "./host.ts";

test.each([
  ["https://example.com:8443/a", "example.com:8443"],
  ["http://xn--bcher-kva.example/", "xn--bcher-kva.example"],
  ["https://bank.example@evil.example/", "evil.example"],
  ["mailto:a@example.com", "a@example.com"],
  ["javascript:alert(1)", undefined],
  ["data:text/html,x", undefined],
  ["/w/other", undefined],
  ["//evil.example", undefined],
  ["", undefined],
  [undefined, undefined],
])("the host of %s is %s", (href, host) => {
  expect(hostOf(href)).toBe(host);
});
