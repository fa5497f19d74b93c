import { expect, test } from "vitest";
import { createReferenceResolver } from "./references.ts";
import { toValueSchema } from "./value-schema.ts";

const text = { type: "string" };
const customer = { type: "object", properties: { email: text, name: text } };
const components = {
  customer,
  state: { type: "string", enum: ["open", "paid"] },
  payment: { oneOf: [text, customer] },
  stored: {
    type: "object",
    properties: { id: { ...text, readOnly: true }, email: text },
    required: ["id"],
  },
};

function converted(schema: object) {
  const warnings: string[] = [];
  const document = createReferenceResolver(components);
  return {
    schema: toValueSchema(document, schema, (message) => warnings.push(message)),
    warnings,
  };
}

test.each<[string, object, string[]]>([
  [
    "beside the schema that defines the properties",
    { allOf: [{ $ref: "#/customer" }, { required: ["email"] }] },
    ["email"],
  ],
  [
    "before the schema that defines the properties",
    { allOf: [{ required: ["email"] }, { $ref: "#/customer" }] },
    ["email"],
  ],
  ["around the allOf", { allOf: [{ $ref: "#/customer" }], required: ["name"] }, ["name"]],
  [
    "in an allOf inside the allOf",
    { allOf: [{ allOf: [{ required: ["email"] }] }, { $ref: "#/customer" }], required: ["name"] },
    ["name", "email"],
  ],
])(
  "required %s applies to the merged properties, which stay the only ones",
  (_where, schema, required) => {
    expect(converted(schema)).toEqual({ schema: { ...customer, required }, warnings: [] });
  },
);

test.each<[string, unknown]>([
  ["a description", { description: "The buyer" }],
  ["an empty schema", {}],
  ["true", true],
])("an allOf with %s stays a closed object", (_what, part) => {
  const { schema } = converted({ allOf: [{ $ref: "#/customer" }, part] });
  expect(schema).toMatchObject({ type: "object", properties: customer.properties });
  expect(schema).not.toHaveProperty("additionalProperties");
});

test("an allOf with additionalProperties: true is an open object", () => {
  const part = { additionalProperties: true };
  expect(converted({ allOf: [{ $ref: "#/customer" }, part] }).schema).toMatchObject(part);
});

test("an allOf that has only constraints accepts any value", () => {
  expect(converted({ allOf: [{ description: "Anything" }, true] }).schema).toEqual({
    description: "Anything",
    type: ["string", "number", "boolean", "array", "object", "null"],
    additionalProperties: true,
  });
});

test.each<[string, object, object]>([
  ["without properties", { type: "object" }, { type: "object" }],
  ["without properties, or null", { type: "object", nullable: true }, { type: ["object", "null"] }],
  [
    "with patternProperties",
    { ...customer, patternProperties: { "^x-": text }, additionalProperties: false },
    { ...customer, required: [] },
  ],
])("an object %s accepts any property", (_what, schema, expected) => {
  expect(converted(schema).schema).toEqual({ ...expected, additionalProperties: true });
});

test.each<[string, object]>([
  ["that an allOf closes", { allOf: [{ type: "object" }, { additionalProperties: false }] }],
  ["whose allOf defines properties", { type: "object", allOf: [{ $ref: "#/customer" }] }],
  ["whose properties are all readOnly", { properties: { id: { type: "string", readOnly: true } } }],
])("an object %s stays closed", (_what, schema) => {
  expect(converted(schema).schema).not.toMatchObject({ additionalProperties: true });
});

test("a required property that is readOnly is left out, also if another schema requires it", () => {
  const { schema, warnings } = converted({
    allOf: [{ $ref: "#/stored" }, { required: ["id", "email"] }],
  });
  expect(schema).toMatchObject({ properties: { email: text }, required: ["email"] });
  expect(warnings).toEqual([]);
});

test("a warning names required properties that the schema does not define", () => {
  const required = ["email", "a", "b", "c", "d", "e", "f"];
  expect(converted({ ...customer, required })).toEqual({
    schema: { ...customer, required: ["email"] },
    warnings: [
      "required is not checked for properties that the schema does not define: a, b, c, d, e and others",
    ],
  });
});

test.each<[string, object]>([
  ["customer", { type: ["object", "null"], properties: customer.properties, required: [] }],
  ["state", { type: ["string", "null"], enum: ["open", "paid", null] }],
  ["payment", { anyOf: [text, { ...customer, required: [] }, { type: "null" }] }],
])("nullable around an allOf of a reference to %s adds null", (name, expected) => {
  const schema = { allOf: [{ $ref: `#/${name}` }], nullable: true };
  expect(converted(schema)).toEqual({ schema: expected, warnings: [] });
});

test("a constant that is an object is left out with a warning", () => {
  expect(converted({ type: "object", const: { a: 1 } }).warnings).toEqual([
    "const is not checked: it is no number, boolean or short text",
  ]);
});

test("a default beyond ±2^53 is left out, because the document's parser has rounded it", () => {
  const { schema, warnings } = converted({ type: "integer", maximum: 2 ** 53, default: 2 ** 53 });
  expect(schema).toEqual({ type: "integer", maximum: 2 ** 53 });
  expect(warnings).toEqual(["default is left out: it is an integer beyond ±9,007,199,254,740,991"]);
});
