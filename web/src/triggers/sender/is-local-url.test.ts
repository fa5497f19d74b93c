import { expect, test } from "vitest";
import { isLocalUrl } from "./is-local-url.ts";

test.each([
  "localhost:3000",
  "beckon",
  "beckon.local",
  "127.0.0.1:3000",
  "10.1.2.3",
  "172.31.0.1",
  "192.168.1.20",
  "169.254.1.1",
  "100.64.0.1",
  "[::1]:3000",
  "[fd00::1]",
  "[fe80::1]",
])("%s reaches only this machine or network", (host) => {
  expect(isLocalUrl(`http://${host}/api/public/triggers/bkt_1`)).toBe(true);
});

test.each([
  "beckon.example.com",
  "10.example.com",
  "localhost.example.com",
  "172.32.0.1",
  "100.128.0.1",
  "203.0.113.1",
  "[2001:db8::1]",
  "fd00.example.com",
])("%s can be reached from elsewhere", (host) => {
  expect(isLocalUrl(`https://${host}/api/public/triggers/bkt_1`)).toBe(false);
});
