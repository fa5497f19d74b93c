import { httpToolBody, receiving } from "@beckon/contract";
import { expect, test } from "vitest";
import { isSame, isSameField, withStoredSecrets } from "./compare.ts";

test("a field of a tool that the file omits matches its default, and no other value", () => {
  const operation = { name: "read", method: "GET" };
  const stored = { ...operation, query: {}, body_type: "json" };
  expect(isSame({ operations: [operation] }, { operations: [stored] })).toBe(true);
  expect(isSame({ timeout_seconds: 30 }, { timeout_seconds: 30, description: "x" })).toBe(false);
});

test("a stored secret takes the place of null, except in a schema", () => {
  const tool = {
    headers: { Authorization: { secret: null } },
    body: { default: { secret: null } },
  };
  const stored = { headers: { Authorization: { secret_id: "sec_1" } }, body: tool.body };
  expect(
    withStoredSecrets([{ name: "shop", ...tool }], [{ name: "shop", ...stored }], "tools"),
  ).toEqual([{ name: "shop", ...stored }]);
  const missing = () => withStoredSecrets([{ name: "shop", ...tool }], [], "tools");
  expect(missing).toThrow("The secret at tools.0.headers.Authorization");
});

test("a query parameter can be named like a field with a schema, and still have a stored secret", () => {
  const tool = { name: "shop", query: { body: { secret: null } } };
  const stored = { name: "shop", query: { body: { secret_id: "sec_1" } } };
  expect(withStoredSecrets([tool], [stored], "tools")).toEqual([stored]);
});

test("a header or query parameter that the file no longer has is a change, whatever its value", () => {
  const operation = { name: "read", method: "GET" };
  for (const value of [{ secret: null }, { secret: null, prefix: "Bearer " }, "", "text"]) {
    for (const field of ["headers", "query"]) {
      const stored = { [field]: { sent: value, body: value } };
      for (const rest of [{ [field]: { body: value } }, { [field]: {} }, {}]) {
        expect(isSame([rest], [stored])).toBe(false);
        const operations = (given: object) => ({ operations: [{ ...operation, ...given }] });
        expect(isSame(operations(rest), operations(stored))).toBe(false);
      }
      expect(isSame([stored], [structuredClone(stored)])).toBe(true);
    }
  }
  expect(isSame({}, { headers: {}, query: {} })).toBe(true);
});

test("what a trigger's file omits from `receiving` matches the default of the contract", () => {
  const hmac = {
    kind: "hmac",
    header: "x",
    algorithm: "sha256",
    encoding: "hex",
    signed: ["body"],
  };
  for (const given of [{}, { verification: hmac }, { bodies: { csv: true }, form: {} }])
    expect(isSame(given, receiving.parse(given))).toBe(true);
  expect(isSame({}, receiving.parse({ when_paused: "hold" }))).toBe(false);
  expect(isSame({}, receiving.parse({ verification: { kind: "basic" } }))).toBe(false);
});

test("metadata and schemas have no defaults: a value that the file no longer has is a change", () => {
  const before = { metadata: { team: "ops", beta: false } };
  expect(isSameField("metadata", before, before)).toBe(true);
  expect(isSameField("metadata", { metadata: { team: "ops" } }, before)).toBe(false);
  const schema = { type: "object", properties: { draft: { type: "boolean", const: false } } };
  const changed = { type: "object", properties: { draft: { type: "boolean" } } };
  expect(isSame({ body: schema }, { body: schema })).toBe(true);
  expect(isSame({ body: changed }, { body: schema })).toBe(false);
});

test("names of headers and hosts match what the server stores of them", () => {
  const given = {
    verification: { kind: "header", header: "X-Gitlab-Token" },
    event_id: { header: "X-Request-ID" },
    headers: ["X-GitHub-Event"],
  };
  const receivingOf = (changes: object) => ({
    receiving: receiving.parse({ ...given, ...changes }),
  });
  expect(isSame({ receiving: given }, receivingOf({}))).toBe(true);
  expect(isSame({ receiving: given }, receivingOf({ headers: ["x-other"] }))).toBe(false);
  expect(isSame({ receiving: given }, receivingOf({ event_id: { header: "x-id" } }))).toBe(false);

  const allowed_hosts = ["API.example.com", "münchen.example:0443", "[2001:DB8::1]:80", "a.b:80"];
  const tool = httpToolBody.parse({
    type: "http",
    name: "shop",
    allowed_hosts,
    operations: [{ name: "read", description: "Reads.", method: "GET", url: "http://a.b:80/" }],
  });
  expect(isSame([{ ...tool, allowed_hosts }], [tool])).toBe(true);
  expect(isSame([{ ...tool, allowed_hosts: ["a.b", ...allowed_hosts.slice(1)] }], [tool])).toBe(
    false,
  );
});

test.each(["a.b/v1", "user@a.b", "a.b?x", "http://a.b", "a.b#x"])(
  "%s is no host, so it differs from the stored one",
  (host) => {
    expect(isSame([{ allowed_hosts: [host] }], [{ allowed_hosts: ["a.b"] }])).toBe(false);
  },
);

test("an unusual notation of an IPv4 address differs from the stored address", () => {
  expect(isSame([{ allowed_hosts: ["127.1"] }], [{ allowed_hosts: ["127.0.0.1"] }])).toBe(false);
});

test("a header's name in a tool is a key, and its letter case is kept", () => {
  expect(isSame([{ headers: { Accept: "x" } }], [{ headers: { Accept: "x" } }])).toBe(true);
  expect(isSame([{ headers: { Accept: "x" } }], [{ headers: { accept: "x" } }])).toBe(false);
});
