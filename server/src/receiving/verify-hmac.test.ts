import { createHmac } from "node:crypto";
import { receiving } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { type RawRequest, verifyRequest } from "./index.ts";

const received = (headers: Record<string, string>, body = "body"): RawRequest => ({
  method: "POST",
  url: "https://beckon.example.com/t",
  headers,
  body: Buffer.from(body),
  receivedAtMs: Date.parse("2026-01-05T20:00:27.877Z"),
});

describe("settings of an HMAC", () => {
  const verify = (
    settings: Record<string, unknown>,
    headers: Record<string, string>,
    secret = "s",
    body = "body",
  ) => {
    const verification = receiving.parse({
      verification: {
        kind: "hmac",
        header: "x-signature",
        algorithm: "sha256",
        encoding: "hex",
        signed: ["body"],
        ...settings,
      },
    }).verification;
    const request = received(headers, body);
    return verifyRequest({ verification }, { current: secret, previous: null }, request).ok;
  };
  const signed = (text: string, key: string | Buffer = "s", algorithm = "sha256") =>
    createHmac(algorithm, key).update(text);

  test.each(["sha1", "sha256", "sha512"])("%s in hexadecimal and base64", (algorithm) => {
    for (const encoding of ["hex", "base64"] as const) {
      const headers = { "x-signature": signed("body", "s", algorithm).digest(encoding) };
      expect(verify({ algorithm, encoding }, headers)).toBe(true);
    }
  });

  test("hexadecimal digits can be capitals", () => {
    expect(verify({}, { "x-signature": signed("body").digest("hex").toUpperCase() })).toBe(true);
  });

  test.each([
    ["hex", "00ff10"],
    ["base64", "AP8Q"],
    ["whsec", "AP8Q"],
    ["whsec", "whsec_AP8Q"],
  ])("a secret in %s is decoded", (secret_encoding, secret) => {
    const headers = { "x-signature": signed("body", Buffer.from("00ff10", "hex")).digest("hex") };
    expect(verify({ secret_encoding }, headers, secret)).toBe(true);
  });

  test.each([
    ["hex", "not hex"],
    ["hex", "abc"],
    ["base64", "%%%%"],
    ["whsec", "whsec_"],
    ["whsec", "whsec_*"],
  ])("a secret that is not in %s is no empty key", (secret_encoding, secret) => {
    for (const key of ["", secret, Buffer.from(secret, "base64"), Buffer.from(secret, "hex")]) {
      const headers = { "x-signature": signed("body", key).digest("hex") };
      expect(verify({ secret_encoding }, headers, secret)).toBe(false);
    }
  });

  test.each([
    ["seconds", "1767643227"],
    ["seconds with a fraction", "1767643227.877"],
    ["milliseconds", "1767643227877"],
    ["RFC 3339", "2026-01-05T20:00:27.877Z"],
    ["RFC 3339 with an offset", "2026-01-05T21:00:27+01:00"],
  ])("a timestamp in %s is read", (_, timestamp) => {
    const settings = { timestamp: { header: "x-time" }, signed: ["timestamp", "body"] };
    const headersAt = (time: string) => ({
      "x-time": time,
      "x-signature": signed(`${time}body`).digest("hex"),
    });
    expect(verify(settings, headersAt(timestamp))).toBe(true);
  });

  test.each(["", "\ufeff"])("a timestamp in a body that begins with %j is read", (beginning) => {
    const body = `${beginning}{"time":1767643227877}`;
    const headers = { "x-signature": signed(body).digest("hex") };
    expect(verify({ timestamp: { pointer: "/time" } }, headers, "s", body)).toBe(true);
  });

  test.each([
    ["time=1767643227&text=a%26b", true],
    ["time=1767640000&text=a%26b", false],
    ["text=a", false],
    ['{"time":1767643227}', true],
  ])("a timestamp in the form %j is compared with the time of arrival", (body, isValid) => {
    const headers = {
      "content-type": "application/x-www-form-urlencoded; charset=utf-8",
      "x-signature": signed(body).digest("hex"),
    };
    expect(verify({ timestamp: { pointer: "/time" } }, headers, "s", body)).toBe(isValid);
  });

  test.each([
    "",
    "0",
    "-1767643227",
    "NaN",
    "1e99",
    "Mon, 05 Jan 2026 20:00:27 GMT",
    "2026-13-05T20:00:27Z",
  ])("the timestamp %j is rejected", (time) => {
    const settings = { timestamp: { header: "x-time" }, signed: ["timestamp", "body"] };
    const headers = { "x-time": time, "x-signature": signed(`${time}body`).digest("hex") };
    expect(verify(settings, headers)).toBe(false);
  });

  test("a header that is named like a member of every object is missing", () => {
    expect(verify({ header: "constructor" }, {})).toBe(false);
  });

  test("bytes of headers outside ASCII are signed as they were received", () => {
    // The header contains "é" in UTF-8. Node decodes headers as Latin-1.
    const time = Buffer.from("é").toString("latin1");
    const settings = { id: { header: "x-id" }, signed: ["id", "body"] };
    const headers = { "x-id": time, "x-signature": signed("ébody").digest("hex") };
    expect(verify(settings, headers)).toBe(true);
  });
});

test.each([
  ["a timestamp that is not signed", { timestamp: { header: "x-time" }, signed: ["body"] }],
  ["a signed timestamp that is not located", { signed: ["timestamp", "body"] }],
  ["an id that is not signed", { id: { header: "x-id" }, signed: ["body"] }],
  ["a signed id that is not located", { signed: ["id", "body"] }],
  ["a pair of a plain header", { timestamp: { pair: "t" }, signed: ["timestamp", "body"] }],
  ["pairs without the name of the signature's", { form: "pairs" }],
  ["a body that is not signed", { signed: [{ literal: "x" }] }],
])("settings with %s are not valid", (_, settings) => {
  const verification = {
    kind: "hmac",
    header: "x-signature",
    algorithm: "sha256",
    encoding: "hex",
    signed: ["body"],
    ...settings,
  };
  expect(receiving.safeParse({ verification }).success).toBe(false);
});
