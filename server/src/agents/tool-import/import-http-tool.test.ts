// This file is long because it contains the documents that are imported.
import { type HttpToolBody, type HttpToolGrant, httpToolBody } from "@beckon/contract";
import { expect, test } from "vitest";
import type { Context } from "../../base/context.ts";
import { grantedTools } from "../../engine/index.ts";
import { importHttpTool } from "./import-http-tool.ts";

const ctx = { actor: { kind: "system" }, workspaceId: "wsp_1" } as Context;
const importing = (document: unknown, operations?: readonly string[], server?: string) =>
  importHttpTool({
    ctx,
    input: {
      body: {
        ok: true,
        value: {
          document,
          ...(operations === undefined ? {} : { operations }),
          ...(server === undefined ? {} : { server }),
        },
      },
    },
  });

const shop = `
openapi: 3.0.3
info: {title: "The Shop: API", version: "1"}
servers: [{url: "https://{region}.shop.example/v1/", variables: {region: {default: eu}}}]
security: [{token: []}]
paths:
  /orders/{order-id}:
    parameters:
      - {name: order-id, in: path, required: true, schema: {type: string, pattern: "^[0-9]+$"}, description: The order's number}
    get:
      operationId: orders.read
      summary: Reads an order
      parameters:
        - {name: "fields[]", in: query, schema: {type: array, items: {type: string}}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: session, in: cookie, schema: {type: string}}
    patch:
      operationId: orders.change
      parameters: [{$ref: "#/components/parameters/Idempotency"}]
      requestBody:
        required: true
        content:
          application/merge-patch+json:
            schema:
              allOf:
                - {$ref: "#/components/schemas/Order"}
                - {type: object, properties: {reason: {type: string, nullable: true}}, required: [reason]}
  /files:
    post:
      operationId: upload
      requestBody: {required: true, content: {application/octet-stream: {schema: {type: string, format: binary}}}}
  /health:
    get: {security: [{}]}
components:
  securitySchemes:
    token: {type: http, scheme: bearer}
  parameters:
    Idempotency: {name: Idempotency-Key, in: header, schema: {type: string}}
  schemas:
    Order:
      type: object
      required: [id, state]
      properties:
        id: {type: string, readOnly: true}
        state: {type: string, enum: [open, paid]}
        price: {type: number, minimum: 0, exclusiveMinimum: true}
        parent: {$ref: "#/components/schemas/Order"}
        payment: {oneOf: [{type: string}, {type: object, properties: {card: {type: string}}}]}
`;

/** Fills in the empty secrets, as a client does before it creates the agent. */
function filledIn(tool: unknown): HttpToolBody {
  return httpToolBody.parse(
    JSON.parse(JSON.stringify(tool).replaceAll('"secret":""', '"secret":"0123456789"')),
  );
}

test("selected operations become a tool that is valid once its secrets are filled in", async () => {
  const { tool, warnings } = await importing(shop, ["orders.read", "orders.change"]);
  expect(tool).toEqual({
    type: "http",
    name: "The_Shop_API",
    description: "The Shop: API",
    allowed_hosts: ["eu.shop.example"],
    headers: { Authorization: { secret: "", prefix: "Bearer " } },
    query: {},
    operations: [
      {
        name: "orders_read",
        description: "Reads an order",
        method: "GET",
        url: "https://eu.shop.example/v1/orders/{order-id}",
        query: { "fields[]": "{fields}" },
        headers: { "X-Trace": "{X-Trace}" },
        parameters: {
          type: "object",
          properties: {
            "order-id": { type: "string", description: "The order's number" },
            fields: { type: "array", items: { type: "string" } },
            "X-Trace": { type: "string" },
          },
          required: ["order-id"],
        },
      },
      {
        name: "orders_change",
        description: "PATCH /orders/{order-id}",
        method: "PATCH",
        url: "https://eu.shop.example/v1/orders/{order-id}",
        query: {},
        headers: { "Content-Type": "application/merge-patch+json" },
        parameters: expect.anything(),
        idempotency_header: "Idempotency-Key",
        body: {
          type: "object",
          properties: {
            reason: { type: ["string", "null"] },
            state: { type: "string", enum: ["open", "paid"] },
            price: { type: "number", exclusiveMinimum: 0 },
            parent: {
              type: ["string", "number", "boolean", "array", "object", "null"],
              additionalProperties: true,
            },
            payment: {
              anyOf: [
                { type: "string" },
                { type: "object", properties: { card: { type: "string" } }, required: [] },
              ],
            },
          },
          required: ["state", "reason"],
        },
      },
    ],
  });
  expect(warnings).toEqual([
    "orders.read: parameter order-id: pattern is not checked.",
    "orders.read: parameter session is left out: it is a cookie.",
    "orders.change: body: #/components/schemas/Order is nested too deeply or recursive: it accepts any value there.",
    "orders.change: parameter order-id: pattern is not checked.",
  ]);
  expect(filledIn(tool)).toMatchObject({
    type: "http",
    operations: [{ safe_to_repeat: true }, { safe_to_repeat: false }],
  });
});

test("without a selection all supported operations are imported, and warnings name the others", async () => {
  const { tool, warnings } = await importing(shop);
  const { operations, headers } = tool as {
    operations: { name: string; headers: object }[];
    headers: object;
  };
  expect(operations.map(({ name }) => name)).toEqual([
    "orders_read",
    "orders_change",
    "get_health",
  ]);
  expect(headers).toEqual({ Authorization: { secret: "", prefix: "Bearer " } });
  expect(operations.some((each) => "Authorization" in each.headers)).toBe(false);
  expect(warnings).toContain("upload is left out: its body is neither JSON nor a form.");
  expect(warnings).toContain(
    "The tool's credentials are also sent with operations that need none: get_health.",
  );
  filledIn(tool);
});

const minimal = (change: object = {}, operation: object = {}) => ({
  openapi: "3.1.0",
  info: { title: "x", version: "1" },
  servers: [{ url: "https://api.example.com" }],
  paths: { "/x": { get: { operationId: "x", ...operation } } },
  ...change,
});

test.each<[string, unknown, RegExp]>([
  ["a URL in place of a document", "https://example.com/openapi.json", /is not a JSON object/],
  ["broken JSON", '{"openapi": "3.0.0", ', /begins like JSON but is not valid JSON/],
  ["broken YAML", "openapi: [3.0.0\nx: -: }", /neither JSON nor YAML/],
  ["Swagger 2", { swagger: "2.0" }, /convert it to OpenAPI 3/],
  ["OpenAPI 4", { openapi: "4.0.0" }, /not OpenAPI 3\.0 or 3\.1/],
  ["no paths", minimal({ paths: {} }), /No operation of the document can be imported/],
  ["no server", minimal({ servers: [] }), /has no server with an absolute URL/],
  [
    "a relative server",
    minimal({ servers: [{ url: "/v1" }] }),
    /has no server with an absolute URL/,
  ],
  ["a server that is a file", minimal({ servers: [{ url: "file:///etc/" }] }), /has no server/],
  [
    "a remote reference",
    minimal({}, { parameters: [{ $ref: "https://evil.example/p.json" }] }),
    /refers to another document .*not fetched/,
  ],
  [
    "a reference to a file",
    minimal({}, { parameters: [{ $ref: "file:///etc/passwd" }] }),
    /refers to another document/,
  ],
  [
    "a relative reference",
    minimal({}, { parameters: [{ $ref: "common.yaml#/p" }] }),
    /refers to another document/,
  ],
  [
    "a reference to a missing component",
    minimal({}, { parameters: [{ $ref: "#/components/x" }] }),
    /does not refer to an object/,
  ],
  [
    "a reference to an object's prototype",
    minimal({}, { parameters: [{ $ref: "#/constructor/prototype" }] }),
    /does not refer to an object/,
  ],
  [
    "circular references",
    minimal(
      { components: { a: { $ref: "#/components/b" }, b: { $ref: "#/components/a" } } },
      { parameters: [{ $ref: "#/components/a" }] },
    ),
    /refers to itself/,
  ],
  [
    "a required cookie",
    minimal(
      {},
      { parameters: [{ name: "s", in: "cookie", required: true, schema: { type: "string" } }] },
    ),
    /its parameter s is a cookie/,
  ],
  [
    "an undeclared path parameter",
    minimal({ paths: { "/x/{y}": { get: { operationId: "x" } } } }),
    /contains \{y\}, which is not a parameter/,
  ],
])("rejects %s", async (_what, document, error) => {
  await expect(importing(document)).rejects.toThrow(error);
});

test.each<[string, object, object, string]>([
  [
    "the first absolute server of the document",
    {
      servers: [{ url: "/v1" }, { url: "https://a.example.com" }, { url: "https://b.example.com" }],
    },
    {},
    "https://a.example.com/x",
  ],
  [
    "the first absolute server of the operation",
    {},
    { servers: [{ url: "v2" }, { url: "https://b.example.com/v2" }] },
    "https://b.example.com/v2/x",
  ],
])("an operation is imported with %s, without a warning", async (_what, change, operation, url) => {
  const { tool, warnings } = await importing(minimal(change, operation));
  expect(tool).toMatchObject({ operations: [{ url }] });
  expect(warnings).toEqual([]);
});

test("an operation with relative servers only gets the path's or the document's, with a warning", async () => {
  const relative = { servers: [{ url: "/v2" }] };
  const paths = (servers: object[]) => ({ paths: { "/x": { servers, get: { ...relative } } } });
  const ofPath = await importing(minimal(paths([{ url: "https://b.example.com" }])));
  expect(ofPath.tool).toMatchObject({ operations: [{ url: "https://b.example.com/x" }] });
  const ofDocument = await importing(minimal(paths([{ url: "../v3" }])));
  expect(ofDocument).toMatchObject({
    tool: { operations: [{ url: "https://api.example.com/x" }] },
    warnings: [
      'get /x: its server "/v2" is not an absolute HTTP URL: https://api.example.com is used.',
    ],
  });
});

test.each<[string, object[], string]>([
  ["has a relative one", [{ url: "/" }], "https://given.example.com/v1/x"],
  ["has none", [], "https://given.example.com/v1/x"],
  ["has an absolute one", [{ url: "https://api.example.com" }], "https://api.example.com/x"],
])(
  "a given server is used unless the document has its own (it %s)",
  async (_what, servers, url) => {
    const given = "https://given.example.com/v1/";
    const { tool, warnings } = await importing(minimal({ servers }), undefined, given);
    expect(tool).toMatchObject({ operations: [{ url }] });
    expect(warnings).toEqual([]);
  },
);

test.each(["/v1", "ftp://x.example", "https://ada:secret@x.example"])(
  "%s is rejected as a server",
  async (server) => {
    await expect(importing(minimal(), undefined, server)).rejects.toThrow(
      /^server must be an http or https URL/,
    );
  },
);

test("every operation of a large document is listed and can be chosen", async () => {
  const paths = Object.fromEntries(many(71, (index) => [`/p${index + 1}`, { get: {} }]));
  const { operations, warnings } = await importing(minimal({ paths }));
  expect(operations).toHaveLength(71);
  expect(operations[0]).toEqual({ id: "get /p1", method: "GET", path: "/p1", name: "get_p1" });
  expect(operations[69]).toEqual({ id: "get /p70", method: "GET", path: "/p70", name: null });
  expect(warnings).toEqual([
    'Only the first 64 of 71 operations were imported: choose others with "operations".',
  ]);
  const chosen = await importing(minimal({ paths }), ["get /p70"]);
  expect(chosen.tool).toMatchObject({ operations: [{ name: "get_p70" }] });
  expect(chosen.operations.filter(({ name }) => name !== null)).toHaveLength(1);
});

test.each<[string, string]>([
  ["JSON", JSON.stringify(minimal())],
  ["YAML", shop],
])("a byte order mark before %s is skipped", async (_what, text) => {
  expect(await importing(`\ufeff${text}`)).toEqual(await importing(text));
});

test("a password in a server's URL is not imported", async () => {
  const { tool } = await importing(
    minimal({ servers: [{ url: "https://ada:secret@api.example.com" }] }),
  );
  expect(tool).toMatchObject({
    allowed_hosts: ["api.example.com"],
    operations: [{ url: "https://api.example.com/x" }],
  });
  expect(JSON.stringify(tool)).not.toContain("ada");
});

test("an unknown operation is rejected with the known ones", async () => {
  await expect(importing(minimal(), ["y"])).rejects.toThrow(
    "operations: the document has no operation y. It has x.",
  );
});

test.each<[string, object, object]>([
  [
    "an API key in a header",
    { type: "apiKey", in: "header", name: "X-Key" },
    { headers: { "X-Key": { secret: "" } }, query: {} },
  ],
  [
    "an API key in the query",
    { type: "apiKey", in: "query", name: "key" },
    { headers: {}, query: { key: { secret: "" } } },
  ],
  [
    "a bearer token",
    { type: "http", scheme: "Bearer" },
    { headers: { Authorization: { secret: "", prefix: "Bearer " } }, query: {} },
  ],
  [
    "basic authentication",
    { type: "http", scheme: "basic" },
    { headers: { Authorization: { secret: "", prefix: "Basic " } }, query: {} },
  ],
  [
    "OAuth",
    { type: "oauth2", flows: {} },
    { headers: { Authorization: { secret: "", prefix: "Bearer " } }, query: {} },
  ],
])(
  "%s becomes an empty secret, also when it is declared as a parameter",
  async (_what, scheme, secrets) => {
    const parameters = [
      { name: "x-key", in: "header", schema: { type: "string" } },
      { name: "key", in: "query", schema: { type: "string" } },
    ];
    const document = minimal(
      { security: [{ s: [] }], components: { securitySchemes: { s: scheme } } },
      { parameters },
    );
    const { tool } = await importing(document);
    expect(tool).toMatchObject(secrets);
    filledIn(tool);
  },
);

test.each<[string, object, RegExp]>([
  [
    "a reserved header",
    { in: "header", name: "Proxy-Authorization" },
    /cannot set the header "Pro/,
  ],
  ["an invalid header", { in: "header", name: "X Api Key" }, /cannot set the header "X Api Key"/],
  ["a header without a name", { in: "header" }, /cannot set the header ""/],
  ["a query parameter without a name", { in: "query" }, /"" is not a valid name/],
  ["a header that is already set", { in: "header", name: "authorization" }, /is already set/],
])("a credential in %s is left out with a warning", async (_what, scheme, warning) => {
  const securitySchemes = {
    bearer: { type: "http", scheme: "bearer" },
    s: { type: "apiKey", ...scheme },
  };
  const { tool, warnings } = await importing(
    minimal({ security: [{ bearer: [], s: [] }], components: { securitySchemes } }),
  );
  expect(filledIn(tool).headers).toEqual({
    Authorization: { secret: "0123456789", prefix: "Bearer " },
  });
  expect(warnings).toEqual([expect.stringMatching(warning)]);
});

test.each<[string, object[], string[]]>([
  ["the first that a tool can have is imported", [{ cookie: [] }, { token: [] }], []],
  [
    "the first is imported if a tool can have none",
    [{ cookie: [], token: [] }, { cookie: [] }],
    ["x: its security scheme cookie (apiKey cookie) is not supported."],
  ],
])("of alternative credentials, %s", async (_which, security, expected) => {
  const securitySchemes = {
    cookie: { type: "apiKey", in: "cookie", name: "s" },
    token: { type: "http", scheme: "bearer" },
  };
  const { tool, warnings } = await importing(
    minimal({ security, components: { securitySchemes } }),
  );
  expect(filledIn(tool).headers).toEqual({
    Authorization: { secret: "0123456789", prefix: "Bearer " },
  });
  expect(warnings).toEqual(expected);
});

test.each<[string, object]>([
  ["is on another host", { servers: [{ url: "https://status.example.com" }] }],
  ["is sent without TLS", { servers: [{ url: "http://api.example.com" }] }],
  [
    "sets their header itself",
    { parameters: [{ name: "x-key", in: "header", schema: { type: "string" } }] },
  ],
])("credentials stay with their operations if one without any %s", async (_what, change) => {
  const securitySchemes = { key: { type: "apiKey", in: "header", name: "X-Key" } };
  const { tool, warnings } = await importing({
    ...minimal({ security: [{ key: [] }], components: { securitySchemes } }),
    paths: { "/a": { get: {} }, "/b": { get: { security: [], ...change } } },
  });
  const { headers, operations } = filledIn(tool);
  expect(headers).toEqual({});
  expect(operations.map((each) => Object.keys(each.headers))).toEqual([
    ["X-Key"],
    "parameters" in change ? ["x-key"] : [],
  ]);
  expect(warnings).toEqual([]);
});

test("names that become equal get numbers", async () => {
  const get = (operationId: string) => ({ get: { operationId } });
  const { tool } = await importing(
    minimal({ paths: { "/a": get("a.b"), "/b": get("a/b"), "/c": get("7 days"), "/d": get("ü") } }),
  );
  expect((tool as { operations: { name: string }[] }).operations.map(({ name }) => name)).toEqual([
    "a_b",
    "a_b_2",
    "_7_days",
    "operation",
  ]);
  filledIn(tool);
});

test("a document that expands through its references is rejected quickly", async () => {
  const schemas: Record<string, unknown> = { s0: { type: "string" } };
  for (let level = 1; level <= 7; level += 1) {
    const properties = Array.from({ length: 20 }, (_, n) => [
      `m${n}`,
      { $ref: `#/components/schemas/s${level - 1}` },
    ]);
    schemas[`s${level}`] = { type: "object", properties: Object.fromEntries(properties) };
  }
  const requestBody = {
    required: true,
    content: { "application/json": { schema: { $ref: "#/components/schemas/s7" } } },
  };
  const document = minimal({
    paths: { "/x": { post: { operationId: "x", requestBody } } },
    components: { schemas },
  });
  // Without the limit, following all references of this document would take hours.
  await expect(importing(document)).rejects.toThrow(/too large when its references are followed/);
});

const ofType = (schema: object) => ({
  requestBody: { required: true, content: { "application/json": { schema } } },
});
const many = <T>(count: number, item: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => item(index));

test.each<[string, object]>([
  ["required", { properties: { a: {} }, required: many(10_000, () => "a") }],
  ["type", { type: many(10_000, () => "string") }],
])("a list %s that references repeat counts towards the size of the document", async (_what, a) => {
  const document = minimal({
    a,
    paths: { "/x": { post: ofType({ anyOf: many(20, () => ({ $ref: "#/a" })) }) } },
  });
  await expect(importing(document)).rejects.toThrow(/too large when its references are followed/);
});

test("a body that can be JSON or a JSON patch is imported as JSON", async () => {
  const body = { type: "object", properties: { a: { type: "string" } }, required: [] };
  const content = {
    "application/json-patch+json": { schema: { type: "array" } },
    "application/json; charset=utf-8": { schema: body },
  };
  const requestBody = { required: true, content };
  const { tool } = await importing(minimal({ paths: { "/x": { post: { requestBody } } } }));
  expect(tool).toMatchObject({
    operations: [{ headers: { "Content-Type": "application/json; charset=utf-8" }, body }],
  });
});

const formOf = (schema: object, encoding = {}) => ({
  post: {
    operationId: "x",
    requestBody: {
      required: true,
      content: { "application/x-www-form-urlencoded": { schema, encoding } },
    },
  },
});

test("a form is imported without the properties that it cannot contain", async () => {
  const list = { type: "array", items: { type: "string" } };
  const schema = {
    type: "object",
    properties: {
      to: { type: "string", nullable: true },
      version: { const: 2 },
      tags: list,
      ids: list,
      expand: list,
      address: { type: "object" },
    },
    required: ["to", "version"],
  };
  const encoding = { ids: { explode: false }, expand: { style: "deepObject", explode: true } };
  const { tool, warnings } = await importing(
    minimal({ paths: { "/x": formOf(schema, encoding) } }),
  );
  expect(filledIn(tool).operations[0]).toMatchObject({
    headers: {},
    body_type: "form",
    body: {
      type: "object",
      properties: {
        to: { type: "string" },
        version: { const: 2 },
        tags: list,
        ids: { type: "string", description: "Several values, separated by commas" },
      },
      required: ["to", "version"],
    },
  });
  expect(warnings).toEqual([
    "x: body: ids: is an array in one string: the model writes the whole string.",
    "x: body: expand is left out: it is an array of the style deepObject.",
    "x: body: address is left out: it is not a string, number, boolean or an array of these.",
  ]);
});

test("an operation whose form requires an object is left out", async () => {
  const schema = { type: "object", properties: { a: { type: "object" } }, required: ["a"] };
  await expect(importing(minimal({ paths: { "/x": formOf(schema) } }))).rejects.toThrow(
    /x is left out: the property a of its form is not a string/,
  );
});

test("texts that are cut are still well-formed", async () => {
  const cut = (length: number) => `${"x".repeat(length - 1)}😀x`;
  const text = cut(1_000);
  const schema = { type: "string", title: cut(200), description: text };
  const operation = {
    description: cut(2_000),
    parameters: [{ name: "a", in: "query", schema, description: text }],
    requestBody: { content: { "application/json": { schema } } },
  };
  const { tool } = await importing({
    openapi: "3.1.0",
    info: { title: "API", description: text },
    servers: [{ url: "https://api.example.com" }],
    paths: { "/a": { post: operation } },
  });
  const json = JSON.stringify(tool);
  expect(json).not.toMatch(/\\ud[89a-f]/);
  expect(json.match(/x…/g)).toHaveLength(6);
});

test("an agent can send any field of an imported object that defines none", async () => {
  const schema = { type: "object", properties: { metadata: { type: "object" } } };
  const paths = { "/x": { post: { operationId: "x", ...ofType(schema) } } };
  const { tool } = await importing(minimal({ paths }));
  const services = { fetch, openSecret: async () => undefined };
  const [imported] = grantedTools([filledIn(tool) as HttpToolGrant], services);
  expect(imported?.check?.({ body: { metadata: { plan: "pro" } } })).toBeUndefined();
  expect(imported?.parameters).toMatchObject({
    properties: { body: { properties: { metadata: { additionalProperties: true } } } },
  });
});

test("constants of an imported body are sent unless the document makes them optional", async () => {
  const kind = (required: string[]) => ({
    type: "object",
    properties: { kind: { const: "a" } },
    required,
  });
  const schema = {
    type: "object",
    properties: {
      x: { type: "string" },
      version: { const: 2 },
      dry_run: { const: true },
      open: kind([]),
      constant: kind(["kind"]),
      nested: { ...kind(["kind"]), properties: { kind: kind(["kind"]) } },
    },
    required: ["x", "version"],
  };
  const paths = { "/x": { post: { operationId: "x", ...ofType(schema) } } };
  const { tool } = await importing(minimal({ paths }));
  const sent: unknown[] = [];
  const fetch = async (_url: unknown, init?: RequestInit) => {
    sent.push(JSON.parse(String(init?.body)));
    return new Response();
  };
  const services = { fetch, openSecret: async () => undefined };
  const [imported] = grantedTools([filledIn(tool) as HttpToolGrant], services);
  const context = { idempotencyKey: "run_1:call_1", signal: new AbortController().signal };
  const bodies = [{ x: "1" }, { x: "1", dry_run: true, nested: { kind: { kind: "a" } } }];
  for (const body of bodies) {
    expect(imported?.check?.({ body })).toBeUndefined();
    await imported?.execute({ body }, context);
  }
  expect(sent).toEqual(bodies.map((body) => ({ ...body, version: 2 })));
});

test("a long default that references repeat is left out", async () => {
  const document = minimal({
    a: { type: "string", default: "x".repeat(1_001) },
    paths: { "/x": { post: { operationId: "x", ...ofType({ $ref: "#/a" }) } } },
  });
  const { tool } = await importing(document);
  expect(tool).toMatchObject({ operations: [{ body: { type: "string" } }] });
  expect(JSON.stringify(tool)).not.toContain("xx");
});

test.each<[string, object, RegExp | undefined]>([
  ["a title of many hyphens", { info: { title: `a${"-".repeat(200_000)}a` } }, undefined],
  [
    "a server with many slashes",
    { servers: [{ url: `https://api.example.com/${"/".repeat(200_000)}x` }] },
    /has no server with an absolute URL/,
  ],
  [
    "a server that its variables make long",
    {
      servers: [
        {
          url: `https://api.example.com/${"{v}".repeat(500)}x`,
          variables: { v: { default: "/".repeat(2_000) } },
        },
      ],
    },
    /has no server with an absolute URL/,
  ],
  [
    "many servers that their variables make long",
    {
      servers: many(200, () => ({
        url: `https://api.example.com/${"{v}".repeat(600)}x`,
        variables: { v: { default: "/".repeat(2_000) } },
      })),
      paths: Object.fromEntries(many(64, (index) => [`/${index}`, { get: {} }])),
    },
    /has no server with an absolute URL/,
  ],
  [
    "many references through a long one",
    {
      [`a${"%20".repeat(100_000)}`]: { type: "string" },
      a: { $ref: `#/a${"%2520".repeat(100_000)}` },
      paths: { "/x": { post: ofType({ anyOf: many(6_000, () => ({ $ref: "#/a" })) }) } },
    },
    /it has a reference that is too long/,
  ],
  [
    "many parameters beside many credentials",
    {
      components: {
        securitySchemes: Object.fromEntries(
          many(9_000, (index) => [
            `s${index}`,
            { type: "apiKey", in: "header", name: `h${index}` },
          ]),
        ),
      },
      security: [Object.fromEntries(many(9_000, (index) => [`s${index}`, []]))],
      paths: {
        "/x": {
          get: { parameters: many(9_000, (index) => ({ in: "header", name: `p${index}` })) },
        },
      },
    },
    undefined,
  ],
  [
    "a path of many question marks",
    { paths: { [`/${"?".repeat(200_000)}\n`]: { get: {} } } },
    /its path is too long/,
  ],
  [
    "a list of parameters with equal names",
    {
      paths: {
        "/x": {
          get: {
            parameters: many(9_000, (index) => ({
              in: "query",
              name: `a${"!".repeat(index % 90)}${"?".repeat(index / 90)}`,
              schema: { type: "string" },
            })),
          },
        },
      },
    },
    /must have at most 64 parameters/,
  ],
  [
    "an allOf of many schemas",
    {
      paths: {
        "/x": {
          post: ofType({
            allOf: many(6_000, (index) => ({ properties: { [`p${index}`]: {} } })),
          }),
        },
      },
    },
    /its allOf has more than 100 schemas/,
  ],
])("%s does not block the process", async (_what, change, error) => {
  const began = performance.now();
  const imported = importing(minimal(change));
  await (error === undefined ? imported : expect(imported).rejects.toThrow(error));
  expect(performance.now() - began).toBeLessThan(20_000);
});

const string = { type: "string" };
const integer = { type: "integer" };
const nothing = { type: "null" };

test.each<[string, object, object]>([
  ["null beside one type", { anyOf: [string, nothing], title: "Q" }, { ...string, title: "Q" }],
  ["a list or null", { oneOf: [{ type: "array", items: integer }, nothing] }, { items: integer }],
  ["an enum or null", { anyOf: [{ ...string, enum: ["a"] }, nothing] }, { enum: ["a"] }],
  ["one value", { const: "a" }, { ...string, enum: ["a"] }],
  [
    "alternatives of one value",
    { oneOf: [{ const: 1 }, { const: 2 }] },
    { ...integer, enum: [1, 2] },
  ],
  ["an enum of integers", { enum: [1, 2, 3] }, { ...integer, enum: [1, 2, 3] }],
  ["an enum of several types", { enum: [1, "a", null] }, { ...string, enum: ["1", "a"] }],
  ["strings whose enum has numbers", { ...string, enum: [1, 2] }, { ...string, enum: ["1", "2"] }],
  ["integers and numbers", { type: ["integer", "number"], enum: [1, 1.5] }, { type: "number" }],
])("a required parameter with %s is imported", async (_what, schema, expected) => {
  const parameters = [{ name: "a", in: "query", required: true, schema }];
  const { tool, warnings } = await importing(minimal({}, { parameters }));
  expect(filledIn(tool).operations[0]?.parameters).toMatchObject({ properties: { a: expected } });
  expect(warnings).toEqual([]);
});

test.each<[object]>([
  [{ type: ["string", "integer"], minLength: 2 }],
  [{ anyOf: [{ ...string, minLength: 2 }, integer, nothing] }],
])("a parameter with several types is text, with a warning (%o)", async (schema) => {
  const parameters = [{ name: "a", in: "query", schema }];
  const { tool, warnings } = await importing(minimal({}, { parameters }));
  expect(filledIn(tool).operations[0]?.parameters?.properties).toEqual({ a: string });
  expect(warnings).toEqual([
    "x: parameter a: has several alternatives, of which only the type string is checked.",
  ]);
});

test.each<[string, { in: string } & Record<string, unknown>, string]>([
  ["the query", { in: "query", explode: false }, "commas"],
  ["the query, of the style pipeDelimited", { in: "query", style: "pipeDelimited" }, "|"],
  ["the query, of the style spaceDelimited", { in: "query", style: "spaceDelimited" }, "spaces"],
  ["the path", { in: "path", required: true }, "commas"],
  ["a header", { in: "header" }, "commas"],
])(
  "an array in one string in %s says what separates its values",
  async (_where, how, delimiter) => {
    const schema = { type: "array", items: { ...string, enum: ["b", "c"] } };
    const parameters = [{ name: "a", schema, ...how, description: "x".repeat(2_000) }];
    const paths = { [how.in === "path" ? "/x/{a}" : "/x"]: { get: { parameters } } };
    const { tool } = await importing(minimal({ paths }));
    const { description = "" } = filledIn(tool).operations[0]?.parameters?.properties?.a ?? {};
    expect(description.split("…")[1]).toBe(
      `\n\nSeveral values, separated by ${delimiter}. Allowed values: b, c`,
    );
  },
);

test("a parameter for the header Authorization is left out with a warning, unless the tool has that header", async () => {
  const operation = {
    parameters: [{ name: "authorization", in: "header", required: true, schema: string }],
  };
  const { tool, warnings } = await importing(minimal({}, operation));
  expect(filledIn(tool)).toMatchObject({ headers: {}, operations: [{ headers: {} }] });
  expect(warnings).toEqual([
    "x: parameter authorization is left out: add the header Authorization with a secret to the tool.",
  ]);
  const securitySchemes = { bearer: { type: "http", scheme: "bearer" } };
  const secured = { security: [{ bearer: [] }], components: { securitySchemes } };
  expect((await importing(minimal(secured, operation))).warnings).toEqual([]);
});

test("a path that does not begin with a slash is left out with a warning", async () => {
  const { tool, warnings } = await importing(
    minimal({ paths: { ":1": { get: {} }, "/x": { get: { operationId: "x" } } } }),
  );
  expect(tool).toMatchObject({ operations: [{ name: "x" }] });
  expect(warnings).toEqual(["get :1 is left out: its path does not begin with a slash."]);
});

test("a path that refers to another document is left out with a warning", async () => {
  const { tool, warnings } = await importing(
    minimal({ paths: { "/a": { $ref: "a.yaml" }, "/x": { get: { operationId: "x" } } } }),
  );
  expect(tool).toMatchObject({ operations: [{ name: "x" }] });
  expect(warnings).toEqual([
    "/a is left out: it refers to another document (a.yaml), which is not fetched.",
  ]);
});

test.each([{ enum: null }, { enum: null, default: "a" }, { enum: 1, default: "a" }])(
  "a parameter whose enum is not a list is rejected: %j",
  async (schema) => {
    const parameters = [{ name: "a", in: "query", schema: { ...string, ...schema } }];
    await expect(importing(minimal({}, { parameters }))).rejects.toThrow(/enum must be/);
  },
);

test.each([
  { ...integer, default: "10" },
  { ...string, enum: ["a"], default: "A" },
  { type: "array", items: integer, default: 1 },
])(
  "a default that its parameter does not accept is left out with a warning: %j",
  async (schema) => {
    const parameters = [{ name: "a", in: "query", schema }];
    const { tool, warnings } = await importing(minimal({}, { parameters }));
    const { default: _, ...expected } = schema;
    expect(filledIn(tool).operations[0]?.parameters.properties).toEqual({ a: expected });
    expect(warnings).toEqual([
      "x: parameter a: default is left out: it is not of the parameter's type or not in its enum.",
    ]);
  },
);

test("the default of an optional parameter is described and not sent", async () => {
  const choice = { ...string, enum: ["all", "own"], default: "all" };
  const parameters = [
    { name: "visibility", in: "query", schema: choice },
    { name: "type", in: "query", schema: choice, description: "Not with visibility" },
    { name: "X-Page", in: "header", schema: { ...integer, default: 1 } },
    { name: "sort", in: "query", required: true, schema: { ...string, default: "name" } },
  ];
  const { tool, warnings } = await importing(minimal({}, { parameters }));
  expect(warnings).toEqual([]);
  const imported = filledIn(tool);
  expect(imported.operations[0]?.parameters.properties).toEqual({
    visibility: { ...string, enum: choice.enum, description: 'Default: "all"' },
    type: {
      ...string,
      enum: choice.enum,
      description: 'Not with visibility\n\nDefault: "all"',
    },
    "X-Page": { ...integer, description: "Default: 1" },
    sort: { ...string, default: "name" },
  });
  const sent: unknown[] = [];
  const fetch = async (url: unknown, init?: RequestInit) => {
    sent.push(url, init?.headers);
    return new Response();
  };
  const services = { fetch, openSecret: async () => undefined };
  const [operation] = grantedTools([imported as HttpToolGrant], services);
  const args = { sort: "name", type: "own" };
  expect(operation?.check?.(args)).toBeUndefined();
  const context = { idempotencyKey: "run_1:call_1", signal: new AbortController().signal };
  await operation?.execute(args, context);
  expect(sent).toEqual([
    "https://api.example.com/x?type=own&sort=name",
    expect.not.objectContaining({ "x-page": expect.anything() }),
  ]);
});

test.each([
  ["with 100,000 levels of nesting", `openapi: ${"[".repeat(100_000)}`],
  ["with 100,000 nested keys", `${"? ".repeat(100_000)}`],
  [
    "with aliases that expand exponentially",
    `a: &a [1,1,1,1,1,1,1,1]\nb: &b [${"*a,".repeat(40)}*a]\nc: &c [${"*b,".repeat(40)}*b]\nd: [${"*c,".repeat(40)}*c]`,
  ],
])("YAML %s does not block the event loop", async (_what, text) => {
  let maxDelayMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    maxDelayMs = Math.max(maxDelayMs, performance.now() - last);
    last = performance.now();
  }, 10);
  await expect(importing(text)).rejects.toThrow(/document is/);
  clearInterval(timer);
  expect(maxDelayMs).toBeLessThan(4_000);
});
