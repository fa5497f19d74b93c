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

test("a body of constants adds no argument", () => {
  const { modelSchema, complete } = splitFixedFields({
    type: "object",
    properties: { restart: { const: true } },
  });
  expect(modelSchema).toBeUndefined();
  expect(complete(undefined)).toEqual({ restart: true });
});
