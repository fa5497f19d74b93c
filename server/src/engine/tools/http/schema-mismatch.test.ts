import type { ValueSchema } from "@beckon/contract";
import { expect, test } from "vitest";
import { schemaForModel, splitFixedFields } from "./fixed-fields.ts";
import { schemaMismatch } from "./schema-mismatch.ts";

const order: ValueSchema = {
  type: "object",
  properties: {
    id: { type: "string", minLength: 1, maxLength: 5 },
    count: { type: "integer", minimum: 1, exclusiveMaximum: 10 },
    price: { type: ["number", "null"], multipleOf: 0.1 },
    state: { enum: ["open", "paid"] },
    tags: { type: "array", items: { type: "string" }, maxItems: 2 },
    extra: { type: "object", additionalProperties: { type: "boolean" } },
    who: {
      anyOf: [
        { type: "string" },
        { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      ],
    },
  },
  required: ["id"],
};

test.each<[unknown, string | undefined]>([
  [{ id: "1" }, undefined],
  [
    {
      id: "1",
      count: 9,
      price: 0.3,
      state: "paid",
      tags: ["a", "b"],
      extra: { x: true },
      who: { name: "Ada" },
    },
    undefined,
  ],
  [{ id: "1", price: null, who: "Ada" }, undefined],
  ["x", "the value must be an object"],
  [[], "the value must be an object"],
  [null, "the value must be an object"],
  [{}, "id is missing"],
  [{ id: 1 }, "id must be a string"],
  [{ id: "" }, "id must be at least 1 characters"],
  [{ id: "123456" }, "id must be at most 5 characters"],
  [{ id: "1", count: 1.5 }, "count must be a whole number"],
  [{ id: "1", count: "1" }, "count must be a whole number"],
  [{ id: "1", count: 0 }, "count must be at least 1"],
  [{ id: "1", count: 10 }, "count must be below 10"],
  [{ id: "1", price: 0.35 }, "price must be a multiple of 0.1"],
  [{ id: "1", state: "closed" }, 'state must be "open" or "paid"'],
  [{ id: "1", tags: ["a", 2] }, "tags[1] must be a string"],
  [{ id: "1", tags: ["a", "b", "c"] }, "tags must be at most 2 items"],
  [{ id: "1", extra: { x: 1 } }, "extra.x must be true or false"],
  [{ id: "1", more: 1 }, "more is unknown"],
  [
    { id: "1", who: {} },
    "who matches none of the alternatives: who must be a string; or who.name is missing",
  ],
  [JSON.parse('{"id":"1","__proto__":{"admin":true}}'), "__proto__ is unknown"],
  [JSON.parse('{"__proto__":{"id":"1"}}'), "id is missing"],
  [{ id: "1", constructor: 1 }, "constructor is unknown"],
])("checks %j", (value, expected) => {
  expect(schemaMismatch(order, value)).toBe(expected);
});

const payment: ValueSchema = {
  type: "object",
  properties: { amount: { type: "number" } },
  required: ["amount"],
  anyOf: [
    { type: "object", properties: { card: { type: "string" } }, required: ["card"] },
    { type: "object", anyOf: [{ type: "object", properties: { iban: { type: "string" } } }] },
    { type: "object", properties: { cash: { const: true } }, additionalProperties: false },
  ],
};

test.each<[unknown, string | undefined]>([
  [{ amount: 1, card: "4711" }, undefined],
  [{ amount: 1, iban: "DE1" }, undefined],
  [{ amount: 1 }, undefined],
  [{ card: "4711" }, "amount is missing"],
  [{ amount: "1", card: "4711" }, "amount must be a number"],
  [
    { amount: 1, cash: true },
    "the value matches none of the alternatives: card is missing; or the value matches none of the alternatives: cash is unknown; or amount is unknown",
  ],
])("checks %j against properties and alternatives of one object", (value, expected) => {
  expect(schemaMismatch(payment, value)).toBe(expected);
});

test.each<[unknown, string | undefined]>([
  [{ mail: "a@example.com" }, undefined],
  [{}, "the value matches none of the alternatives: mail is missing; or phone is missing"],
  [{ mail: "a@example.com", admin: true }, "admin is unknown"],
])("checks %j against alternatives that define no properties", (value, expected) => {
  const contact: ValueSchema = {
    type: "object",
    properties: { mail: { type: "string" }, phone: { type: "string" } },
    anyOf: [{ required: ["mail"] }, { required: ["phone"] }],
  };
  expect(schemaMismatch(contact, value)).toBe(expected);
});

test("an alternative can allow any properties", () => {
  const labels: ValueSchema = {
    type: "object",
    properties: { id: { type: "string" } },
    anyOf: [{ type: "object", additionalProperties: { type: "string" } }],
  };
  expect(schemaMismatch(labels, { id: "1", team: "a" })).toBeUndefined();
  expect(schemaMismatch(labels, { id: "1", team: 1 })).toBe(
    "the value matches none of the alternatives: team must be a string",
  );
});

test("the model sees that alternatives and their object can have each other's properties", () => {
  expect(schemaForModel(payment)).toMatchObject({
    additionalProperties: true,
    anyOf: [
      { additionalProperties: true },
      { additionalProperties: true, anyOf: [{ additionalProperties: true }] },
      { additionalProperties: false },
    ],
  });
  const { anyOf = [] } = payment;
  expect(schemaForModel({ type: "object", anyOf })).toMatchObject({
    additionalProperties: true,
    anyOf: [
      { additionalProperties: false },
      { additionalProperties: true, anyOf: [{ additionalProperties: false }] },
      { additionalProperties: false },
    ],
  });
});

test.each<[number, number, boolean]>([
  [1_234_567.89, 0.01, true],
  [111_919.18, 0.01, true],
  [-2, 1e-9, true],
  [0.1 + 0.2, 0.1, true],
  [1_234_567.891, 0.01, false],
  [1e-12, 0.1, false],
  [1_000_000_000.5, 1, false],
])("%d as a multiple of %d: %s", (value, multipleOf, expected) => {
  expect(schemaMismatch({ type: "number", multipleOf }, value) === undefined).toBe(expected);
});

test("a character counts once, however many UTF-16 units it takes", () => {
  expect(schemaMismatch({ type: "string", maxLength: 3 }, "😀😀😀")).toBeUndefined();
  expect(schemaMismatch({ type: "string", maxLength: 3 }, "😀😀😀😀")).toBe(
    "the value must be at most 3 characters",
  );
  expect(schemaMismatch({ type: "string", minLength: 2 }, "😀")).toBe(
    "the value must be at least 2 characters",
  );
});

const list = (length: number, item: unknown) => Array.from({ length }, () => item);
const numbered = (length: number) => Array.from({ length }, (_, n) => [`n${n}`, n] as const);
const names = (length: number) => numbered(length).map(([name]) => name);
/**
 * Returns a schema with `schema` as 380 alternatives, in 19 groups, and `last` as the last
 * alternative.
 */
const alternatives = (schema: ValueSchema, last: ValueSchema): ValueSchema => ({
  anyOf: [...list(19, { anyOf: list(20, schema) as ValueSchema[] }), last] as ValueSchema[],
});

test.each<[string, ValueSchema, unknown]>([
  [
    "items with many alternatives",
    { type: "array", items: alternatives({ type: "null" }, { type: "integer" }) },
    list(10_000, 0),
  ],
  [
    "a long text with many alternatives",
    alternatives({ type: "string", maxLength: 300_000 }, { type: "string" }),
    "x".repeat(400_000),
  ],
  [
    "items with many alternatives of many allowed values",
    { type: "array", items: alternatives({ enum: names(40) }, { type: "integer" }) },
    list(10_000, 0),
  ],
  [
    "items that are compared with a large object",
    {
      type: "array",
      items: { anyOf: [{ const: Object.fromEntries(numbered(1_000)) }, { type: "object" }] },
    },
    list(10_000, {}),
  ],
  [
    "many properties with many alternatives",
    {
      type: "object",
      ...alternatives({ required: ["z"] }, { type: "object", additionalProperties: true }),
    },
    Object.fromEntries(numbered(10_000)),
  ],
  [
    "many alternatives of which each lacks the last required property",
    {
      type: "array",
      items: alternatives({ required: [...names(99), "z"] }, { additionalProperties: true }),
    },
    list(100, Object.fromEntries(numbered(99))),
  ],
])("a check of %s is rejected before it blocks the process", (_, schema, value) => {
  expect(() => schemaMismatch(schema, value)).toThrow(
    "The values need more than 250,000 checks. Send fewer or shorter values.",
  );
});

test("a long list of codes is accepted, however many codes are allowed", () => {
  const codes: ValueSchema = { type: "array", items: { enum: names(500) } };
  expect(schemaMismatch(codes, list(25_000, "n499"))).toBeUndefined();
  expect(schemaMismatch(codes, ["n499", "n500"])).toMatch(/^\[1\] must be "n0" or "n1" or /);
});

test("alternatives after the one that matches are not checked", () => {
  const { anyOf = [] } = alternatives({ type: "null" }, { type: "integer" });
  const schema: ValueSchema = { type: "array", items: { anyOf: anyOf.toReversed() } };
  expect(schemaMismatch(schema, list(100_000, 0))).toBeUndefined();
});

test("an error contains the beginning of a long name", () => {
  const schema: ValueSchema = { type: "object", additionalProperties: { type: "null" } };
  const found = schemaMismatch(schema, { [`${"x".repeat(98)}${"😀".repeat(1_000)}`]: 1 });
  expect(found).toMatch(/^x{98}\uFFFD… must be null$/);
});

test("constant fields of a body are not shown, not accepted and always sent", () => {
  const schema: ValueSchema = {
    type: "object",
    properties: {
      channel: { const: "C123" },
      text: { type: "string" },
      options: {
        type: "object",
        properties: {
          unfurl: { const: false },
          as: { type: "object", properties: { bot: { const: true } } },
        },
      },
      reply: { type: "object", properties: { to: { type: "string" }, kind: { const: "mention" } } },
    },
    required: ["channel", "text"],
  };
  const { modelSchema, complete } = splitFixedFields(schema);
  expect(schemaForModel(modelSchema ?? {})).toEqual({
    type: "object",
    properties: {
      text: { type: "string" },
      reply: {
        type: "object",
        properties: { to: { type: "string" } },
        additionalProperties: false,
      },
    },
    required: ["text"],
    additionalProperties: false,
  });
  expect(schemaMismatch(modelSchema ?? {}, { text: "hi", channel: "C666" })).toBe(
    "channel is unknown",
  );
  const options = { unfurl: false, as: { bot: true } };
  expect(complete({ text: "hi" })).toEqual({ channel: "C123", text: "hi", options });
  expect(complete({ text: "hi", reply: { to: "Ada" } })).toEqual({
    channel: "C123",
    text: "hi",
    options,
    reply: { to: "Ada", kind: "mention" },
  });
});

test.each<ValueSchema>([
  { type: ["object", "null"], properties: { kind: { const: "mention" }, to: { type: "string" } } },
  { properties: { kind: { const: "mention" }, to: { type: "string" } } },
])("constant fields of a value that need not be an object are sent if it is one: %j", (schema) => {
  const { modelSchema, complete } = splitFixedFields(schema);
  expect(modelSchema).toEqual({ ...schema, properties: { to: { type: "string" } } });
  expect(complete({ to: "Ada", kind: "spam" })).toEqual({ to: "Ada", kind: "mention" });
  for (const other of [null, "Ada", ["Ada"]]) expect(complete(other)).toEqual(other);
});

test("the model decides whether an object of constants is null, if it can be", () => {
  const { modelSchema, complete } = splitFixedFields({
    type: "object",
    properties: {
      reply: { type: ["object", "null"], properties: { kind: { const: "mention" } } },
    },
  });
  expect(modelSchema?.properties).toEqual({ reply: { type: ["object", "null"], properties: {} } });
  expect([{}, { reply: null }, { reply: {} }].map(complete)).toEqual([
    {},
    { reply: null },
    { reply: { kind: "mention" } },
  ]);
});

test("the model fills in the alternatives of a body whose own fields are constant", () => {
  const { modelSchema, complete } = splitFixedFields({
    type: "object",
    properties: { version: { const: 2 } },
    anyOf: [{ type: "object", properties: { card: { type: "string" } } }],
  });
  expect(modelSchema).toMatchObject({ properties: {}, anyOf: [{ type: "object" }] });
  expect(schemaMismatch(modelSchema ?? {}, { card: "4711" })).toBeUndefined();
  expect(complete({ card: "4711", version: 1 })).toEqual({ card: "4711", version: 2 });
});

test("an object of constants contains nothing else, even if an alternative allows any fields", () => {
  const { complete } = splitFixedFields({
    type: "object",
    properties: {
      to: { type: "object", properties: { id: { const: 5 } } },
      text: { type: "string" },
    },
    anyOf: [{ required: ["text"] }, { type: "object", additionalProperties: true }],
  });
  const sent = { text: "hi", to: { email: "eve@example.com" } };
  expect(complete(sent)).toEqual({ text: "hi", to: { id: 5 } });
});

test("a body of constants adds no argument", () => {
  const { modelSchema, complete } = splitFixedFields({
    type: "object",
    properties: { restart: { const: true } },
  });
  expect(modelSchema).toBeUndefined();
  expect(complete(undefined)).toEqual({ restart: true });
});
