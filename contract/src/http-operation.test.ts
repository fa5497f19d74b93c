import { expect, test } from "vitest";
import { httpToolBody, httpToolGrant, httpToolInDocument } from "./http-tool.ts";

const string = { type: "string" };
const integers = { type: "array", items: { type: "integer", enum: [1, 2] } };

const withParameter = (schema: object) => ({
  type: "http",
  name: "shop",
  allowed_hosts: ["api.example.com"],
  operations: [
    {
      name: "list_orders",
      description: "Lists orders",
      method: "GET",
      url: "https://api.example.com/orders",
      query: { value: "{value}" },
      parameters: { type: "object", properties: { value: schema } },
    },
  ],
});

const wrong = [
  { ...string, default: null },
  { ...string, default: {} },
  { ...string, default: 7 },
  { ...string, default: ["a"] },
  { ...string, enum: ["a", "b"], default: "c" },
  { type: "integer", default: 1.5 },
  { type: "number", default: "1.5" },
  { type: "boolean", default: "true" },
  { ...integers, default: 1 },
  { ...integers, default: [1, "2"] },
  { ...integers, default: [3] },
];

test.each(wrong)("a default that its parameter does not accept is rejected: %j", (schema) => {
  for (const saved of [httpToolBody, httpToolInDocument])
    expect(saved.safeParse(withParameter(schema)).error?.issues).toMatchObject([
      {
        path: ["operations", 0, "parameters", "properties", "value", "default"],
        message: "must be of the parameter's type and, if it has an enum, one of its values",
      },
    ]);
});

test.each(wrong)("a stored configuration can have the default of %j", (schema) => {
  expect(httpToolGrant.safeParse(withParameter(schema)).success).toBe(true);
});

test.each([
  { ...string, default: "" },
  { ...string, enum: ["a", "b"], default: "b" },
  { type: "integer", default: 1 },
  { type: "number", default: 1.5 },
  { type: "boolean", default: false },
  { ...integers, default: [] },
  { ...integers, default: [2, 1] },
])("a default that its parameter accepts is valid: %j", (schema) => {
  expect(httpToolBody.safeParse(withParameter(schema)).error).toBeUndefined();
});

const withBody = (body_type: "json" | "form", type: unknown) => ({
  type: "http",
  name: "shop",
  allowed_hosts: ["api.example.com"],
  headers: { "Content-Type": type },
  operations: [
    { name: "read", description: "Reads", method: "GET", url: "https://api.example.com/orders" },
    {
      name: "add",
      description: "Adds",
      method: "POST",
      url: "https://api.example.com/orders",
      body: { type: "object", properties: {} },
      body_type,
    },
  ],
});

test.each([
  ["form", "application/json"],
  ["json", "application/x-www-form-urlencoded"],
  ["json", "text/plain"],
] as const)("the body of an operation, a %s, is not sent as the tool's %s", (kind, type) => {
  const tool = withBody(kind, type);
  for (const saved of [httpToolBody, httpToolInDocument])
    expect(saved.safeParse(tool).error?.issues).toMatchObject([
      {
        path: ["headers", "Content-Type"],
        message: expect.stringMatching(/^does not match the body of add: /),
      },
    ]);
  expect(httpToolGrant.safeParse(tool).success).toBe(true);
});

test.each([
  ["form", "application/x-www-form-urlencoded; charset=utf-8"],
  ["json", "application/vnd.api+json"],
  ["json", { secret: "0123456789" }],
] as const)("the body of an operation, a %s, can be sent as the tool's %j", (kind, type) => {
  expect(httpToolBody.safeParse(withBody(kind, type)).error).toBeUndefined();
});
