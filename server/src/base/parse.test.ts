import { expect, test } from "vitest";
import { z } from "zod";
import { Refusal } from "./errors.ts";
import { parse } from "./parse.ts";

const schema = z.strictObject({
  name: z.string().min(1),
  limits: z.strictObject({ steps: z.number().int().max(10).optional() }).optional(),
});

function messageFor(value: unknown): string {
  try {
    parse(schema, value);
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.code === "bad_request") return thrown.message;
    throw thrown;
  }
  throw new Error("it was accepted");
}

test("a value of the schema is given back", () => {
  expect(parse(schema, { name: "a", limits: { steps: 3 } })).toEqual({ name: "a", limits: { steps: 3 } });
});

test("unknown members are named with their path", () => {
  expect(messageFor({ name: "a", colour: "red" })).toBe("unknown member colour.");
  expect(messageFor({ name: "a", limits: { hours: 1, days: 2 } })).toBe("unknown members limits.hours, limits.days.");
});

test("every member at fault is named", () => {
  expect(messageFor({ limits: { steps: 11 } })).toMatch(/^name .*; limits\.steps .*\.$/);
});

test.each([[undefined], [null], ["text"], [[]], [3]])("%j where an object is expected is refused", (value) => {
  expect(messageFor(value)).toMatch(/^the body /);
});

test("of very many faults the first ten are told", () => {
  const many = z.array(z.string());
  expect(() =>
    parse(
      many,
      Array.from({ length: 1_000 }, () => 1),
    ),
  ).toThrow(/^(?:\d [^;]*(?:; |\.$)){10}$/);
});

test("a body that could not be read is refused with its own reason when its turn comes", () => {
  const reason = new Refusal("too_large", "The body is larger than 1 MiB.");
  expect(() => parse(schema, reason)).toThrow(reason);
});
