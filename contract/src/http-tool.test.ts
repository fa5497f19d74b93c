import { expect, test } from "vitest";
import { httpToolBody, httpToolGrant } from "./http-tool.ts";
import { toolsBody } from "./tools.ts";

const operation = {
  name: "get_order",
  description: "Reads an order",
  method: "GET",
  url: "https://api.example.com/orders/{id}",
  parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
};
const grant = {
  type: "http",
  name: "shop",
  allowed_hosts: ["api.example.com"],
  operations: [operation],
};
const withOperation = (change: object) => ({ ...grant, operations: [{ ...operation, ...change }] });
const form = { type: "object", properties: {} };
const withForm = (change: object) =>
  withOperation({ method: "POST", body_type: "form", ...change });
const withParameter = (schema: object, url = operation.url) =>
  withOperation({
    url,
    parameters: { type: "object", properties: { id: schema }, required: ["id"] },
  });

/** Returns `path: message` of every issue. */
function mistakes(value: unknown): string[] {
  return (
    httpToolBody
      .safeParse(value)
      .error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? []
  );
}

test("a minimal tool is valid, and omitted fields have defaults", () => {
  const parsed = httpToolBody.parse(grant);
  expect(parsed).toMatchObject({
    description: "",
    headers: {},
    query: {},
    timeout_seconds: 30,
    max_response_bytes: 65_536,
    max_calls_per_run: 100,
  });
  expect(parsed.operations[0]).toMatchObject({ safe_to_repeat: true, headers: {}, query: {} });
  expect(httpToolGrant.parse(parsed)).toEqual(parsed);
});

test.each([
  ["GET", undefined, true],
  ["HEAD", undefined, true],
  ["POST", undefined, false],
  ["PUT", undefined, false],
  ["DELETE", undefined, false],
  ["POST", true, true],
  ["GET", false, false],
])("%s, said to be safe to repeat: %s, is: %s", (method, said, is) => {
  const { operations } = httpToolBody.parse(
    withOperation({ method, ...(said === undefined ? {} : { safe_to_repeat: said }) }),
  );
  expect(operations[0]?.safe_to_repeat).toBe(is);
});

test.each<[string, unknown, RegExp]>([
  [
    "no scheme",
    withOperation({ url: "api.example.com/{id}" }),
    /operations\.0\.url: must be an http or https URL/,
  ],
  ["a file", withOperation({ url: "file:///etc/passwd" }), /url: must be an http or https/],
  [
    "a placeholder as scheme",
    withOperation({ url: "{id}://api.example.com/" }),
    /url: must be an http or https/,
  ],
  [
    "a placeholder as host",
    withOperation({ url: "https://{id}/x" }),
    /url: must have a fixed host and port/,
  ],
  [
    "a placeholder in the host",
    withOperation({ url: "https://{id}.example.com/x" }),
    /url: must have a fixed host and port/,
  ],
  [
    "a placeholder as port",
    withOperation({ url: "https://api.example.com:{id}/x" }),
    /url: must have a fixed host and port/,
  ],
  [
    "a user",
    withOperation({ url: "https://me:pw@api.example.com/{id}" }),
    /url: must not contain a user/,
  ],
  ["a fragment", withOperation({ url: "https://api.example.com/{id}#top" }), /url: .*fragment/],
  ["a backslash", withOperation({ url: "https://api.example.com\\@evil.example/{id}" }), /url: /],
  [
    "dots",
    withOperation({ url: "https://api.example.com/{id}/../admin" }),
    /url: must not contain \. or \.\./,
  ],
  [
    "encoded dots",
    withOperation({ url: "https://api.example.com/{id}/%2e%2E/admin" }),
    /url: must not contain/,
  ],
  [
    "a lone brace",
    withOperation({ url: "https://api.example.com/{id" }),
    /url: has an unmatched brace/,
  ],
  [
    "a placeholder with spaces",
    withOperation({ url: "https://api.example.com/{ id }" }),
    /url: must not contain spaces/,
  ],
  [
    "another host",
    withOperation({ url: "https://other.example.com/{id}" }),
    /url: leads to other\.example\.com, which is not in allowed_hosts/,
  ],
  [
    "another port",
    withOperation({ url: "https://api.example.com:8443/{id}" }),
    /url: leads to api\.example\.com:8443/,
  ],
  [
    "a longer host",
    withOperation({ url: "https://api.example.com.evil.example/{id}" }),
    /which is not in allowed_hosts/,
  ],
  [
    "a wildcard",
    { ...grant, allowed_hosts: ["*.example.com"] },
    /allowed_hosts\.0: must be a host or host:port, without/,
  ],
  [
    "a URL as host",
    { ...grant, allowed_hosts: ["https://api.example.com"] },
    /allowed_hosts\.0: must be a host/,
  ],
  ["no host", { ...grant, allowed_hosts: [] }, /allowed_hosts: /],
  ["no operations", { ...grant, operations: [] }, /operations: /],
  ["an unknown field", withOperation({ timeout: 3 }), /Unrecognized key.*timeout/],
  ["a name with spaces", withOperation({ name: "get order" }), /name: must be 1 to 64/],
  ["a name that begins with a digit", withOperation({ name: "1st" }), /name: must be 1 to 64/],
  ["a long name", withOperation({ name: "x".repeat(65) }), /name: must be 1 to 64/],
  [
    "a missing parameter",
    withOperation({ url: "https://api.example.com/{id}/{part}" }),
    /\{part\}, which is not among the parameters/,
  ],
  [
    "an unused parameter",
    withOperation({ url: "https://api.example.com/" }),
    /parameters\.properties\.id: is not used/,
  ],
  [
    "an optional path",
    withOperation({ parameters: { type: "object", properties: { id: { type: "string" } } } }),
    /can be absent/,
  ],
  [
    "an object as parameter",
    withParameter({ type: "object", properties: {} }),
    /properties\.id: must have the type string/,
  ],
  [
    "a list in the path",
    withParameter({ type: "array", items: { type: "string" } }),
    /\{id\}, a list/,
  ],
  [
    "a list in a header",
    withOperation({
      headers: { "x-id": "{id}" },
      parameters: {
        type: "object",
        properties: { id: { type: "array", items: { type: "string" } } },
        required: ["id"],
      },
      url: "https://api.example.com/",
    }),
    /a list/,
  ],
  ["a const parameter", withParameter({ type: "string", const: "7" }), /cannot be const/],
  ["a pattern", withParameter({ type: "string", pattern: "(a+)+$" }), /pattern: is not supported/],
  ["a reference", withParameter({ $ref: "#/x" }), /\$ref: is not supported/],
  [
    "a const that is a rounded integer",
    withOperation({
      method: "POST",
      body: {
        type: "object",
        properties: { account: { const: { ids: [1, JSON.parse("9007199254740993")] } } },
      },
    }),
    /^operations\.0\.body\.properties\.account\.const\.ids\.1: is an integer beyond/,
  ],
  ["a rounded default", withParameter({ type: "integer", default: 2 ** 53 }), /id\.default: is an/],
  [
    "a rounded choice",
    withParameter({ type: "integer", enum: [1, 2 ** 53] }),
    /id\.enum\.1: is an/,
  ],
  [
    "a rounded example",
    withParameter({ type: "integer", examples: [-(2 ** 53)] }),
    /id\.examples\.0: is an/,
  ],
  ...["minimum", "multipleOf"].map((keyword): [string, unknown, RegExp] => [
    `an infinite ${keyword}`,
    withParameter({ type: "number", [keyword]: JSON.parse("1e999") }),
    new RegExp(`id\\.${keyword}: must be a finite number`),
  ]),
  [
    "an infinite default",
    withParameter({ type: "number", default: JSON.parse("-1e999") }),
    /id\.default: is an integer beyond/,
  ],
  ["no type", withParameter({ description: "?" }), /id: must have a type/],
  ["an unknown keyword", withParameter({ type: "string", oops: 1 }), /oops: is not supported/],
  [
    "a keyword with the name of a method",
    withParameter({ type: "string", constructor: 1 }),
    /constructor: is not supported/,
  ],
  [
    "a wrong keyword",
    withParameter({ type: "string", maxLength: "7" }),
    /maxLength: must be a whole number/,
  ],
  [
    "a stray required",
    withOperation({
      parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id", "x"] },
    }),
    /required: lists "x"/,
  ],
  [
    "__proto__",
    JSON.parse(
      JSON.stringify(withParameter({ type: "string" })).replace('"id":{', '"__proto__":{'),
    ),
    /__proto__/,
  ],
  [
    "a body with GET",
    withOperation({ body: { type: "object", properties: {} } }),
    /body: cannot be sent with GET/,
  ],
  [
    "a parameter named body",
    withOperation({
      method: "POST",
      body: { type: "string" },
      url: "https://api.example.com/{body}",
      parameters: { type: "object", properties: { body: { type: "string" } }, required: ["body"] },
    }),
    /is reserved for the body/,
  ],
  [
    "a form that is not an object",
    withForm({ body: { const: { a: 1 } } }),
    /operations\.0\.body: must be a schema of type object .* sent as a form/,
  ],
  [
    "an object in a form",
    withForm({ body: { ...form, properties: { a: form, b: { const: "x" } } } }),
    /^operations\.0\.body\.properties\.a: must have the type string/,
  ],
  ["a form without a body", withForm({}), /body_type: needs a body/],
  [
    "a form as JSON",
    withForm({ body: form, headers: { "content-type": "application/json" } }),
    /content-type: must be application\/x-www-form-urlencoded, and/,
  ],
  ["Host", withOperation({ headers: { Host: "evil.example" } }), /headers\.Host: is set by Beckon/],
  [
    "Host for the whole tool",
    { ...grant, headers: { Host: "evil.example" } },
    /headers\.Host: is set by Beckon/,
  ],
  [
    "Transfer-Encoding",
    withOperation({ headers: { "transfer-encoding": "chunked" } }),
    /is set by Beckon/,
  ],
  [
    "a header with a line break",
    withOperation({ headers: { "x-a": "1\r\nx-b: 2" } }),
    /must be printable ASCII/,
  ],
  ["a header's name with a colon", withOperation({ headers: { "x-a: 1\r\nx-b": "2" } }), /x-b/],
  ["a header twice", withOperation({ headers: { "x-a": "1", "X-A": "2" } }), /occurs twice/],
  [
    "a header of the tool twice",
    { ...grant, headers: { "x-a": "1", "X-A": "2" } },
    /^headers\.X-A: occurs twice$/,
  ],
  [
    "a header that the tool sets",
    { ...withOperation({ headers: { "x-a": "1" } }), headers: { "X-A": "2" } },
    /is already set for the whole tool/,
  ],
  [
    "an idempotency header that the tool sets",
    { ...withOperation({ idempotency_header: "x-key" }), headers: { "X-Key": "2" } },
    /operations\.0\.idempotency_header: is already set for the whole tool/,
  ],
  [
    "a placeholder in the tool's headers",
    { ...grant, headers: { "x-a": "{id}" } },
    /headers\.x-a: must be fixed/,
  ],
  [
    "a type that is not JSON",
    withOperation({
      method: "POST",
      body: { type: "string" },
      headers: { "content-type": "text/xml" },
    }),
    /must be a JSON media type/,
  ],
  [
    "a short secret",
    { ...grant, headers: { "x-key": { secret: "short" } } },
    /headers\.x-key\.secret: /,
  ],
  [
    "a secret with a line break",
    { ...grant, headers: { "x-key": { secret: "0123456789\r\nx: y" } } },
    /must be printable ASCII/,
  ],
  [
    "a number as header",
    { ...grant, headers: { "x-key": 7 } },
    /headers\.x-key: must be a text, or/,
  ],
  ["an hour", { ...grant, timeout_seconds: 3_600 }, /timeout_seconds/],
  ["a gigabyte", { ...grant, max_response_bytes: 1e9 }, /max_response_bytes/],
  ["no calls", { ...grant, max_calls_per_run: 0 }, /max_calls_per_run/],
])("rejects %s", (_what, value, why) => {
  expect(mistakes(value).join("\n")).toMatch(why);
});

test.each<[string, unknown]>([
  ["the scheme's default port, written out", { ...grant, allowed_hosts: ["api.example.com:443"] }],
  [
    "another port that is allowed",
    {
      ...withOperation({ url: "https://api.example.com:8443/{id}" }),
      allowed_hosts: ["api.example.com:8443"],
    },
  ],
  [
    "capital letters",
    {
      ...withOperation({ url: "https://API.example.com/{id}" }),
      allowed_hosts: ["Api.Example.com"],
    },
  ],
  [
    "an optional parameter of the query",
    withOperation({
      query: { page: "{page}" },
      parameters: {
        type: "object",
        properties: { id: { type: "string" }, page: { type: "integer" } },
        required: ["id"],
      },
    }),
  ],
  [
    "a default in the path",
    withOperation({
      parameters: { type: "object", properties: { id: { type: "string", default: "1" } } },
    }),
  ],
  ["literal braces", withOperation({ query: { filter: '{{"id":"{id}"}}' } })],
  ["a secret in the query", { ...grant, query: { key: { secret: "0123456789" } } }],
  [
    "a text outside ASCII in the query, beside a header of the same name",
    { ...grant, headers: { city: "Zurich" }, query: { city: "Zürich" } },
  ],
])("accepts %s", (_what, value) => {
  expect(mistakes(value)).toEqual([]);
});

test.each<[string, (length: number) => unknown]>([
  [
    "one placeholder, repeated",
    (length) => withOperation({ query: { q: "{id}".repeat(length / 4) } }),
  ],
  [
    "placeholders without a parameter",
    (length) => withOperation({ query: { q: "{b}".repeat(length / 3) } }),
  ],
  [
    "headers of the tool and of an operation",
    (length) => {
      const headers = Object.fromEntries(
        Array.from({ length: length / 20 }, (_, n) => [`x-${n}`, "1"]),
      );
      return { ...withOperation({ headers }), headers };
    },
  ],
  [
    "headers that are numbers",
    (length) => ({
      ...grant,
      headers: Object.fromEntries(Array.from({ length: length / 10 }, (_, n) => [`x${n}`, 0])),
    }),
  ],
  [
    "operations with headers that are numbers",
    (length) => ({
      ...grant,
      operations: Array.from({ length: Math.min(64, length / 200) }, () => ({
        ...operation,
        headers: Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`x${n}`, 0])),
      })),
    }),
  ],
  ["a long host", (length) => withOperation({ url: `https://${"a".repeat(length)}#` })],
])("one request with %s is rejected quickly, with few issues", (_what, body) => {
  const before = process.threadCpuUsage();
  expect(mistakes(body(1_048_576)).length).toBeLessThan(300);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(2_000);
});

test("templates of the maximum length are checked in time proportional to their length", () => {
  const query = Object.fromEntries(
    Array.from({ length: 64 }, (_, n) => [`q${n}`, "{id}".repeat(500)]),
  );
  const before = process.threadCpuUsage();
  expect(mistakes(withOperation({ query }))).toEqual([]);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

test.each<[string, unknown, string]>([
  ["null", null, "parameters: must be a JSON Schema"],
  ["properties: null", { properties: null }, "parameters.properties: must be a JSON object"],
  [
    "a property that is null",
    { type: "object", properties: { id: null } },
    "parameters.properties.id: must be a JSON Schema",
  ],
  [
    "a property that is a text",
    { properties: { id: "string" } },
    "parameters.properties.id: must be a JSON Schema",
  ],
  ["a list of properties", { properties: [{}] }, "parameters.properties: must be a JSON object"],
  ["a number as required", { required: 5 }, "parameters.required: must be a list"],
])("parameters are rejected that are no schema: %s", (_what, parameters, message) => {
  expect(mistakes(withOperation({ parameters }))).toEqual([
    expect.stringContaining(`operations.0.${message}`),
  ]);
});

test("a stored configuration cannot contain a secret in plain text", () => {
  const given = { ...grant, headers: { "x-key": { secret: "0123456789" } } };
  expect(httpToolBody.safeParse(given).success).toBe(true);
  expect(httpToolGrant.safeParse(given).success).toBe(false);
});

test("a schema that is nested too deep is rejected without recursion", () => {
  let deep: object = { type: "string" };
  for (let level = 0; level < 5_000; level += 1) deep = { type: "array", items: deep };
  expect(mistakes(withOperation({ method: "POST", body: deep })).join()).toMatch(
    /nested deeper than 12 levels/,
  );
});

test("names of tools and operations are unique in an agent, and their number is limited", () => {
  const issues = (tools: unknown) =>
    toolsBody
      .safeParse(tools)
      .error?.issues.map(({ message }) => message)
      .join() ?? "";
  expect(issues([grant, { ...grant, name: "other" }])).toMatch(/taken/);
  expect(issues([grant, withOperation({ name: "other" })])).toMatch(/taken/);
  expect(issues([{ type: "clock" }, withOperation({ name: "clock" })])).toMatch(/taken/);
  const many = (name: string) => ({
    ...grant,
    name,
    operations: Array.from({ length: 64 }, (_, n) => ({ ...operation, name: `${name}_${n}` })),
  });
  expect(issues([many("a"), many("b")])).toBe("");
  expect(issues([many("a"), many("b"), grant])).toMatch(/at most 128/);
});
