import { agentsDocument, createTriggerBody } from "@beckon/contract";
import { expect, test } from "vitest";
import { isSameInAgent, isSameInTrigger, withStoredSecrets } from "./compare.ts";

const operation = { name: "read", description: "Reads.", method: "POST", url: "https://a.b/" };

/** A tool with one operation, as a file can have it. */
function toolOf(tool: object, inOperation: object = {}) {
  const operations = [{ ...operation, ...inOperation }];
  return { type: "http", name: "shop", allowed_hosts: ["a.b"], operations, ...tool };
}

/** Returns whether `beckon agents apply` sees no change after the server has stored `before`. */
function isSameTool(inFile: object, before: object): boolean {
  const { tools } = agentsDocument.shape.agents.element.shape;
  return isSameInAgent("tools", [inFile], tools.parse([before]));
}

function isSameReceiving(inFile: unknown, before: unknown): boolean {
  return isSameInTrigger("receiving", inFile, createTriggerBody.shape.receiving.parse(before));
}

test.each<[string, object, object]>([
  ["timeout_seconds", { timeout_seconds: 30 }, {}],
  ["max_response_bytes", { max_response_bytes: 65_536 }, {}],
  ["max_calls_per_run", { max_calls_per_run: 100 }, {}],
  ["description", { description: "" }, {}],
  ["headers and query", { headers: {}, query: {} }, { headers: {}, query: {} }],
  ["parameters", {}, { parameters: { type: "object", properties: {} } }],
  ["safe_to_repeat", {}, { safe_to_repeat: false }],
  ["safe_to_repeat of a GET", {}, { method: "GET", safe_to_repeat: true }],
])("the default of %s is the same whether the file has it or omits it", (_fields, tool, given) => {
  const { method = operation.method } = given as { method?: string };
  const short = toolOf({}, { method });
  expect(isSameTool(short, toolOf(tool, given))).toBe(true);
  expect(isSameTool(toolOf(tool, given), short)).toBe(true);
});

test.each<[string, object, object]>([
  ["timeout_seconds", { timeout_seconds: 31 }, {}],
  ["description", { description: "x" }, {}],
  ["safe_to_repeat", {}, { safe_to_repeat: true }],
  ["body_type", {}, { body: { type: "object" }, body_type: "form" }],
  ["body, null,", {}, { body: { const: null } }],
  ["body, an empty text,", {}, { body: { const: "" } }],
  ["body, false,", {}, { body: { const: false } }],
])(
  "a stored %s that is not the default differs from a file that omits it",
  (_field, tool, given) => {
    expect(isSameTool(toolOf({}), toolOf(tool, given))).toBe(false);
    expect(isSameTool(toolOf(tool, given), toolOf(tool, given))).toBe(true);
  },
);

test("a header or query parameter named like a field with a default has no default itself", () => {
  const values = ["json", "30", "", { secret: null }, { secret: null, prefix: "Bearer " }];
  const levels = [(given: object) => toolOf(given), (given: object) => toolOf({}, given)];
  for (const name of ["body_type", "timeout_seconds", "parameters", "body", "form", "headers"]) {
    for (const field of ["headers", "query"]) {
      for (const value of values) {
        for (const at of levels) {
          const stored = at({ [field]: { [name]: value } });
          expect(isSameTool(stored, stored)).toBe(true);
          expect(isSameTool(at({ [field]: {} }), stored)).toBe(false);
          expect(isSameTool(at({}), stored)).toBe(false);
          expect(isSameTool(stored, at({}))).toBe(false);
        }
      }
    }
  }
});

test("what a trigger's file omits from `receiving` matches the default of the contract", () => {
  const hmac = {
    kind: "hmac",
    header: "x",
    algorithm: "sha256",
    encoding: "hex",
    signed: ["body"],
  };
  for (const given of [{}, { verification: hmac }, { bodies: { csv: true }, form: {} }]) {
    expect(isSameReceiving(given, given)).toBe(true);
    expect(isSameReceiving(createTriggerBody.shape.receiving.parse(given), given)).toBe(true);
  }
  expect(isSameReceiving({}, { when_paused: "hold" })).toBe(false);
  expect(isSameReceiving({}, { verification: { kind: "basic" } })).toBe(false);
  expect(isSameReceiving({}, { form: { honeypot: "name" } })).toBe(false);
  expect(isSameReceiving(null, {})).toBe(false);
});

test("metadata and schemas have no defaults: a value that the file no longer has is a change", () => {
  const before = { team: "ops", beta: false, timeout_seconds: 30 };
  expect(isSameInAgent("metadata", before, { ...before })).toBe(true);
  for (const name of Object.keys(before))
    expect(isSameInAgent("metadata", { ...before, [name]: undefined }, before)).toBe(false);
  const schema = { type: "object", properties: { draft: { type: "boolean", const: false } } };
  const changed = { type: "object", properties: { draft: { type: "boolean" } } };
  expect(isSameTool(toolOf({}, { body: schema }), toolOf({}, { body: schema }))).toBe(true);
  expect(isSameTool(toolOf({}, { body: changed }), toolOf({}, { body: schema }))).toBe(false);
});

test("names of headers and hosts match what the server stores of them", () => {
  const given = {
    verification: { kind: "header", header: "X-Gitlab-Token" },
    event_id: { header: "X-Request-ID" },
    headers: ["X-GitHub-Event"],
  };
  expect(isSameReceiving(given, given)).toBe(true);
  expect(isSameReceiving(given, { ...given, headers: ["x-other"] })).toBe(false);
  expect(isSameReceiving(given, { ...given, event_id: { header: "x-id" } })).toBe(false);

  const hosts = ["a.b", "API.example.com", "münchen.example:0443", "[2001:DB8::1]:80", "a.b:80"];
  const tool = toolOf({ allowed_hosts: hosts });
  expect(isSameTool(tool, tool)).toBe(true);
  expect(isSameTool(toolOf({ allowed_hosts: hosts.slice(0, -1) }), tool)).toBe(false);
});

test.each(["a.b/v1", "user@a.b", "a.b?x", "http://a.b", "a.b#x", "127.1"])(
  "%s is no host, so it differs from the stored one",
  (host) => {
    expect(isSameTool(toolOf({ allowed_hosts: ["a.b", host] }), toolOf({}))).toBe(false);
  },
);

test("a header's name in a tool is a key, and its letter case is kept", () => {
  const tool = toolOf({ headers: { Accept: "x" } });
  expect(isSameTool(tool, tool)).toBe(true);
  expect(isSameTool(tool, toolOf({ headers: { accept: "x" } }))).toBe(false);
});

test("a field that the contract does not know is a change, so that the server rejects it", () => {
  for (const field of ["modl", "constructor", "toString"]) {
    expect(isSameInAgent(field, "x", undefined)).toBe(false);
    expect(isSameInTrigger(field, "x", undefined)).toBe(false);
  }
  const newer = toolOf({ added_later: 1 });
  expect(isSameTool(newer, toolOf({}))).toBe(false);
  expect(isSameInAgent("tools", [newer], [newer])).toBe(true);
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
  for (const name of ["body", "query", "operations"]) {
    const tool = { name: "shop", query: { [name]: { secret: null } } };
    const stored = { name: "shop", query: { [name]: { secret_id: "sec_1" } } };
    expect(withStoredSecrets([tool], [stored], "tools")).toEqual([stored]);
  }
});

test("an operation gets the secrets of the stored operation with the same name", () => {
  const withId = (name: string, id: string) => ({ name, headers: { key: { secret_id: id } } });
  const withNull = (name: string) => ({ name, headers: { key: { secret: null } } });
  const stored = [
    { name: "shop", operations: [withId("read", "sec_1"), withId("write", "sec_2")] },
  ];
  const tools = [{ name: "shop", operations: [withNull("write"), withNull("read")] }];
  expect(withStoredSecrets(tools, stored, "tools")).toEqual([
    { name: "shop", operations: [withId("write", "sec_2"), withId("read", "sec_1")] },
  ]);
  const missing = () => withStoredSecrets(tools, [{ name: "shop" }], "tools");
  expect(missing).toThrow("The secret at tools.0.operations.0.headers.key");
});
