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

test.each<[string, object[], object]>([
  [
    "the values of an enum that all of them have",
    [
      { type: "string", enum: ["cat", "dog", "cow"] },
      { type: "string", enum: ["dog", "cat"] },
    ],
    { type: "string", enum: ["cat", "dog"] },
  ],
  [
    "the larger minimum and the smaller maximum",
    [
      { type: "integer", minimum: 0, maximum: 9 },
      { type: "integer", minimum: 5, maximum: 7 },
      { minimum: 2, maximum: 8 },
    ],
    { type: "integer", minimum: 5, maximum: 7 },
  ],
  [
    "the larger minimum length and the smaller maximum length",
    [
      { type: "string", minLength: 1, maxLength: 5 },
      { type: "string", minLength: 2, maxLength: 9 },
    ],
    { type: "string", minLength: 2, maxLength: 5 },
  ],
  [
    "the types that all of them accept",
    [{ type: ["number", "string", "null"] }, { type: ["string", "integer"] }],
    { type: ["string", "integer"] },
  ],
  [
    "one description, the first",
    [{ $ref: "#/state" }, { description: "One" }, { description: "Two" }],
    { ...components.state, description: "One" },
  ],
])("the merged schema of an allOf has %s", (_what, allOf, expected) => {
  expect(converted({ allOf })).toEqual({ schema: expected, warnings: [] });
});

test.each<[string, unknown, unknown]>([
  ["multipleOf", 2, 5],
  ["const", "a", "b"],
  ["enum", ["a"], ["b"]],
  ["type", "string", "integer"],
])(
  "of a different %s in the schemas of an allOf, the last is kept with a warning",
  (keyword, ...values) => {
    const { schema, warnings } = converted({
      allOf: values.map((value) => ({ [keyword]: value })),
    });
    expect(schema).toMatchObject({ [keyword]: values[1] });
    expect(warnings).toEqual([
      `${keyword} differs between the schemas of an allOf: only that of the last one is checked`,
    ]);
  },
);

test("a property that several schemas of an allOf define matches all of them", () => {
  const pet = {
    type: "object",
    properties: { kind: text, address: { properties: { street: text } } },
  };
  const cat = {
    properties: {
      kind: { enum: ["cat"] },
      address: { properties: { zip: text }, required: ["street", "zip"] },
    },
    required: ["kind"],
  };
  expect(converted({ allOf: [pet, cat] })).toEqual({
    schema: {
      type: "object",
      properties: {
        kind: { type: "string", enum: ["cat"] },
        address: {
          type: "object",
          properties: { street: text, zip: text },
          required: ["street", "zip"],
        },
      },
      required: ["kind"],
    },
    warnings: [],
  });
});

test("a property that the schemas of an allOf take from the same one is converted once", () => {
  const allOf = [{ allOf: [{ $ref: "#/customer" }] }, { $ref: "#/customer" }];
  expect(converted({ allOf })).toEqual({ schema: { ...customer, required: [] }, warnings: [] });
});

test("a property that refers to the allOf that defines it accepts any value", () => {
  const document = createReferenceResolver({
    node: { allOf: [{ $ref: "#/a" }, { $ref: "#/b" }] },
    a: { properties: { next: { $ref: "#/node" } } },
    b: { properties: { next: { $ref: "#/b" } } },
  });
  const warnings: string[] = [];
  toValueSchema(document, { $ref: "#/node" }, (message) => warnings.push(message));
  expect(warnings).toContain(
    "#/node is nested too deeply or recursive: it accepts any value there",
  );
});

test("equal alternatives in an allOf are merged, and different ones are rejected", () => {
  const payment = (choice: object) => ({ properties: { payment: { oneOf: [text, choice] } } });
  const merged = (...choices: object[]) => converted({ allOf: choices.map(payment) });
  expect(merged({ type: "null" }, { type: "null" }).schema).toMatchObject({
    properties: { payment: { anyOf: [text, { type: "null" }] } },
  });
  expect(() => merged({ type: "null" }, { type: "integer" })).toThrow(
    /its allOf combines several anyOf or oneOf/,
  );
});

test("a schema with anyOf and oneOf is rejected", () => {
  const schema = { anyOf: [{ required: ["email"] }], oneOf: [{ $ref: "#/customer" }] };
  expect(() => converted(schema)).toThrow(/one of its schemas has both anyOf and oneOf/);
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
