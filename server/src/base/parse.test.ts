import { createAgentBody, receiving } from "@beckon/contract";
import { expect, test } from "vitest";
import { z } from "zod";
import { ApiError, type Result } from "./errors.ts";
import { parse, parseBody, parseQuery } from "./parse.ts";

const schema = z.strictObject({
  name: z.string().min(1),
  limits: z.strictObject({ steps: z.number().int().max(10).optional() }).optional(),
});

function messageFor(value: unknown): string {
  try {
    parse(schema, value);
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === "bad_request") return thrown.message;
    throw thrown;
  }
  throw new Error("there was no error");
}

test("a valid value is returned", () => {
  expect(parse(schema, { name: "a", limits: { steps: 3 } })).toEqual({
    name: "a",
    limits: { steps: 3 },
  });
});

test("unknown fields are named with their path", () => {
  expect(messageFor({ name: "a", colour: "red" })).toBe("unknown field colour.");
  expect(messageFor({ name: "a", limits: { hours: 1, days: 2 } })).toBe(
    "unknown fields limits.hours, limits.days.",
  );
});

test("every invalid field is named", () => {
  expect(messageFor({ limits: { steps: 11 } })).toMatch(/^name .*; limits\.steps .*\.$/);
});

test.each([[undefined], [null], ["text"], [[]], [3]])(
  "%j instead of an object is rejected",
  (value) => {
    expect(messageFor(value)).toMatch(/^the body /);
  },
);

test("of very many errors the first ten are reported", () => {
  const many = z.array(z.string());
  expect(() =>
    parse(
      many,
      Array.from({ length: 1_000 }, () => 1),
    ),
  ).toThrow(/^(?:\d [^;]*(?:; |\.$)){10}$/);
});

test("the names of very many or very long unknown fields are truncated", () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, each) => [`field${each}`, 1]));
  for (const unknown of [many, { ["x".repeat(100_000)]: 1 }]) {
    const message = messageFor({ name: "a", ...unknown });
    expect(message).toMatch(/^unknown fields? (field0, field1, |xxx).*…\.$/);
    expect(message.length).toBeLessThan(5_000);
  }
});

const read = (value: unknown): Result<unknown> => ({ ok: true, value });

test("a body is validated, also null", () => {
  expect(parseBody(schema, read({ name: "a" }))).toEqual({ name: "a" });
  expect(parseBody(z.null(), read(null))).toBe(null);
});

test("a body that could not be parsed throws its error", () => {
  const error = new ApiError("too_large", "The body is larger than 1 MiB.");
  expect(() => parseBody(schema, { ok: false, error })).toThrow(error);
});

test("an absent body is an error, unless the operation has a default", () => {
  expect(() => parseBody(schema, read(undefined))).toThrow(/^the body is missing\.$/);
  expect(() => parseBody(schema, read(null))).toThrow(/^the body must be a JSON object\.$/);
  for (const absent of [undefined, null])
    expect(parseBody(schema, read(absent), { name: "a" })).toEqual({ name: "a" });
});

const kinds = z.strictObject({
  text: z.string().min(2).max(3).optional(),
  size: z.coerce.number().int().min(1).max(9).optional(),
  colour: z.enum(["red", "blue"]).optional(),
  flag: z.boolean().optional(),
  list: z.array(z.string()).max(2).optional(),
  tool: z.discriminatedUnion("type", [z.strictObject({ type: z.literal("clock") })]).optional(),
  own: z.string().regex(/^a/, "must begin with a").optional(),
  inner: z.strictObject({ text: z.string() }).optional(),
});

test.each([
  [undefined, "the body is missing."],
  [[], "the body must be a JSON object."],
  [{ text: 1 }, "text must be a string."],
  [{ text: "a" }, "text must be at least 2 characters."],
  [{ text: "long" }, "text must be at most 3 characters."],
  [{ size: "many" }, "size must be a number."],
  [{ size: 0 }, "size must be at least 1."],
  [{ size: 1.5 }, "size must be a whole number."],
  [{ colour: "green" }, 'colour must be "red" or "blue".'],
  [{ flag: "yes" }, "flag must be true or false."],
  [{ list: {} }, "list must be a list."],
  [{ list: ["a", "b", "c"] }, "list must be at most 2 items."],
  [{ tool: { type: "hammer" } }, 'tool.type must be "clock".'],
  [{ own: "b" }, "own must begin with a."],
  [{ inner: {} }, "inner.text is missing."],
])("the error for %j says what is wrong", (value, message) => {
  expect(() => parse(kinds, value)).toThrow(message);
});

const hmac = { kind: "hmac", header: "x-signature", algorithm: "sha256", encoding: "hex" };
const anAgent = { name: "Orders", model: "demo/echo" };
const headers = { "a b": "1" };
const tools = [{ type: "http", name: "shop", allowed_hosts: ["a.test"], headers, operations: [] }];

test.each([
  [
    receiving,
    { allowed_addresses: ["example.com", "10.0.0.0/33"] },
    /^(allowed_addresses\.[01] must be an IP address or a CIDR range,? [^;]*(; |\.$)){2}/,
  ],
  [receiving, { event_type: { headr: "x" } }, /^event_type must be \{"header": "…"\}, .*"cloudev/],
  [receiving, { event_id: 1 }, /^event_id must be \{"header": "…"\}, .*"cloudevents"/],
  [
    receiving,
    { event_id: { header: "a b" } },
    "event_id.header must be the name of an HTTP header.",
  ],
  [
    receiving,
    { verification: { ...hmac, signed: ["body", "boddy"] } },
    'verification.signed.1 must be "body", "timestamp", "id" or {"literal": "…"}',
  ],
  [
    receiving,
    { verification: { ...hmac, signed: ["body"], timestamp: { headr: "x" } } },
    /^verification\.timestamp must be \{"header": "…"\}, \{"pair": "…"\}/,
  ],
  [receiving, { form: { answer: {} } }, /^form\.answer must be \{"redirect": "https:/],
  [
    createAgentBody,
    { ...anAgent, tools },
    /tools\.0\.headers\.a b is not valid: its name must be a valid header name/,
  ],
  [
    createAgentBody,
    { ...anAgent, metadata: { ["k".repeat(201)]: 1 } },
    /^metadata\.k+ is not valid: its name must be at most 200 characters\.$/,
  ],
  [
    createAgentBody,
    { ...anAgent, metadata: { a: Number.POSITIVE_INFINITY } },
    /^metadata\.a is an integer beyond .*: write it as text\.$/,
  ],
])("the error for a field that can have several forms says which (%#)", (known, value, message) => {
  expect(() => parse<z.ZodType>(known, value)).toThrow(message);
});

const parameters = z.strictObject({
  limit: z.coerce.number().int().max(200).default(50),
  status: z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(z.enum(["queued", "running"])))
    .optional(),
  since: z.iso.datetime().optional(),
});

test.each([
  [{ limit: "many" }, "query parameter limit must be a number."],
  [{ limit: "500" }, "query parameter limit must be at most 200."],
  [{ status: "queued,done" }, 'query parameter status, item 2, must be "queued" or "running".'],
  [
    { since: "yesterday" },
    "query parameter since must be an RFC 3339 time, for example 2026-01-31T09:30:00Z.",
  ],
  [{ stat: "queued" }, "unknown query parameter stat (known: limit, status, since)."],
  [{ a: "1", b: "2" }, "unknown query parameters a, b (known: limit, status, since)."],
  [
    { limit: "0.5", status: "done" },
    'query parameter limit must be a whole number; query parameter status, item 1, must be "queued" or "running".',
  ],
])("of the query %j the wrong parameters are named", (query, message) => {
  expect(() => parseQuery(parameters, query)).toThrow(new ApiError("bad_request", message));
});

test("of a query without known parameters every parameter is named", () => {
  expect(() => parseQuery(z.strictObject({}), { dry_run: "1" })).toThrow(
    new ApiError("bad_request", "unknown query parameter dry_run (known: none)."),
  );
});

test("a time whose + was not percent-encoded is accepted, and other texts stay as they are", () => {
  const schema = z.strictObject({ since: z.iso.datetime({ offset: true }), text: z.string() });
  const text = "at 2026-01-31T09:30:00 02:00";
  expect(parseQuery(schema, { since: "2026-01-31T09:30:00.5 02:00", text })).toEqual({
    since: "2026-01-31T09:30:00.5+02:00",
    text,
  });
});

test("a query is given back as the schema describes it", () => {
  expect(parseQuery(parameters, { status: "queued" })).toEqual({ limit: 50, status: ["queued"] });
});
