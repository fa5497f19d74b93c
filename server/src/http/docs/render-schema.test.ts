import { expect, test } from "vitest";
import { renderFields } from "./render-schema.ts";

test("a field that adds fields to a resource names the resource, and then the added fields", () => {
  const data = {
    allOf: [
      { $ref: "#/components/schemas/Agent" },
      { type: "object", properties: { token: { type: "string" } } },
    ],
  };
  const html = renderFields(
    { type: "object", properties: { data } },
    (name) => `/docs/agents#${name}`,
  );
  expect(html).not.toContain("any JSON value");
  expect(html).toContain('<a href="/docs/agents#Agent">Agent</a> and object');
  expect(html).toContain("data.<wbr>token");
});

const fieldsIn = (schema: object) =>
  [
    ...renderFields({ type: "object", properties: schema }, (name) => name).matchAll(
      /<td><code>(.*?)<\/code><\/td><td>(.*?)<\/td>/g,
    ),
  ].map(([, name = "", rest = ""]) =>
    [name, rest].map((html) => html.replaceAll(/<[^>]*>/g, "")).join(": "),
  );
const orNull = (schema: object) => ({ anyOf: [schema, { type: "null" }] });

test("a field that can be null shows its fields and its limits", () => {
  const limit = orNull({ type: "integer", minimum: 1, maximum: 9 });
  expect(
    fieldsIn({
      one: orNull({ type: "object", properties: { limit } }),
      many: orNull({ type: "array", maxItems: 3, items: { properties: { limit } } }),
    }),
  ).toEqual([
    "one: object or null",
    "one.limit: integer or null 1 to 9",
    "many: array of any JSON value or null at most 3 items",
    "many[].limit: integer or null 1 to 9",
  ]);
});

test("a field with alternatives shows the fields of each, and to which they belong", () => {
  const form = (kind: string, properties: object) => ({
    type: "object",
    properties: { kind: { const: kind }, ...properties },
  });
  const text = { type: "string" };
  const verification = {
    oneOf: [
      form("none", {}),
      form("hmac", { header: text, encoding: text }),
      form("basic", { header: text }),
    ],
  };
  expect(fieldsIn({ verification })).toEqual([
    "verification: object",
    "verification.kind: &quot;none&quot; or &quot;hmac&quot; or &quot;basic&quot;",
    "verification.header: string Only for kind &quot;hmac&quot; or &quot;basic&quot;.",
    "verification.encoding: string Only for kind &quot;hmac&quot;.",
  ]);
});
