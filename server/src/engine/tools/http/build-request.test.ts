import { type HttpToolGrant, httpToolBody } from "@beckon/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ToolFailure } from "../../tool.ts";
import { buildRequest } from "./build-request.ts";

const grant = httpToolBody.parse({
  type: "http",
  name: "shop",
  allowed_hosts: ["api.example.com"],
  headers: { "x-fixed": "yes" },
  query: { key: "fixed" },
  operations: [
    {
      name: "change",
      description: "x",
      method: "POST",
      url: "https://api.example.com/v1/{one}/mid.{two}/end?inline={three}",
      query: { page: "{four}", mixed: "a-{three}-b", tag: "{tags}" },
      headers: { "x-who": "{five}", "x-mixed": "by {five}" },
      parameters: {
        type: "object",
        properties: {
          one: { type: "string" },
          two: { type: "string" },
          three: { type: "string" },
          four: { type: "string" },
          five: { type: "string" },
          tags: { type: "array", items: { type: "string" } },
        },
        required: ["one", "two", "three", "five"],
      },
      body: { type: "object", properties: { text: { type: "string" } } },
    },
  ],
}) as HttpToolGrant;
const [operation] = grant.operations;
if (operation === undefined) throw new Error("there is one");

const build = (values: Record<string, unknown>, body: unknown = { text: "t" }) =>
  buildRequest(
    grant,
    operation,
    new Map(Object.entries({ one: "1", two: "2", three: "3", five: "5", ...values })),
    body,
  );

test("inserts the model's values", () => {
  const { origin, target, headers, body } = build({
    one: "a b",
    two: "ä",
    three: "x&y=z",
    four: "7",
    five: "Ada",
    tags: ["p", "q r"],
  });
  expect(origin + target).toBe(
    "https://api.example.com/v1/a%20b/mid.%C3%A4/end?inline=x%26y%3Dz&key=fixed&page=7&mixed=a-x%26y%3Dz-b&tag=p&tag=q%20r",
  );
  expect(Object.fromEntries(headers)).toMatchObject({
    "x-fixed": "yes",
    "x-who": "Ada",
    "x-mixed": "by Ada",
    "content-type": "application/json",
  });
  expect(body).toBe('{"text":"t"}');
});

test("omits parameters without a value", () => {
  expect(build({ four: undefined, tags: null }).target).toBe(
    "/v1/1/mid.2/end?inline=3&key=fixed&mixed=a-3-b",
  );
  expect(build({ tags: [] }).target).not.toContain("tag=");
});

/** Text that an attacker would make a model write. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom(
      "/",
      "\\",
      ".",
      "%",
      "2",
      "f",
      "e",
      "?",
      "#",
      "&",
      "=",
      "@",
      ":",
      "\r",
      "\n",
      "\0",
      " ",
      "a",
      "{",
      "}",
    ),
    maxLength: 12,
  }),
  fc.constantFrom(
    ...[
      "..",
      ".",
      "../../admin",
      "..%2f..%2fadmin",
      "%2e%2e",
      ".%2e",
      "//evil.example",
      "\\\\evil.example",
      "@evil.example/",
      "https://evil.example/",
    ],
    ...[
      "#",
      "?x=y",
      "a/../b",
      "1\r\nx-evil: 1",
      "1\nx-evil: 1",
      "\u2025",
      "\uff0e\uff0e",
      "{five}",
      "{{five}}",
      "\ud800",
      "169.254.169.254",
      "file:///etc/passwd",
    ],
    ...["&admin=true", ";admin", "%00", "%0d%0a", "‮", "1#", "%"],
  ),
);

test("no value of the model changes the destination, the structure of the path, the names in the query, or the headers", () => {
  let built = 0;
  fc.assert(
    fc.property(
      hostile,
      hostile,
      hostile,
      hostile,
      hostile,
      fc.array(hostile, { maxLength: 3 }),
      (one, two, three, four, five, tags) => {
        let request: ReturnType<typeof build>;
        try {
          request = build({ one, two, three, four, five, tags }, { text: one });
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ToolFailure);
          return;
        }
        built += 1;
        const url = new URL(request.origin + request.target);
        expect(url.origin).toBe("https://api.example.com");
        expect([url.username, url.password, url.hash]).toEqual(["", "", ""]);
        const segments = url.pathname.split("/");
        expect(segments).toHaveLength(5);
        expect([segments[0], segments[1], segments[3]?.slice(0, 4), segments[4]]).toEqual([
          "",
          "v1",
          "mid.",
          "end",
        ]);
        // A server that decodes the segment gets exactly the model's text.
        expect(decodeURIComponent(segments[2] ?? "")).toBe(one.toWellFormed());
        expect(decodeURIComponent(segments[2] ?? "")).not.toMatch(/[/\\\r\n\0]/);
        expect(["", ".", ".."]).not.toContain(decodeURIComponent(segments[2] ?? ""));
        expect([...url.searchParams.keys()]).toEqual([
          "inline",
          "key",
          "page",
          "mixed",
          ...tags.map(() => "tag"),
        ]);
        expect(url.searchParams.get("key")).toBe("fixed");
        expect(url.searchParams.get("inline")).toBe(three.toWellFormed());
        expect(url.searchParams.getAll("tag")).toEqual(tags.map((tag) => tag.toWellFormed()));
        expect([...request.headers.keys()]).toEqual([
          "accept",
          "user-agent",
          "content-type",
          "x-fixed",
          "x-who",
          "x-mixed",
        ]);
        for (const value of request.headers.values()) expect(value).toMatch(/^[\x20-\x7e]*$/);
        expect(request.method).toBe("POST");
        expect(JSON.parse(request.body ?? "")).toEqual({ text: one });
      },
    ),
    { numRuns: 2_000 },
  );
  expect(built).toBeGreaterThan(50);
});

test.each([".", "..", "", "a/b", "a\\b", "a\nb", "\0"])(
  "the path segment %j is rejected, with the name of the parameter",
  (one) => {
    expect(() => build({ one })).toThrow(ToolFailure);
  },
);

test.each(["a\r\nx-evil: 1", "a\nb", "ä", "\0"])("the header value %j is rejected", (five) => {
  expect(() => build({ five })).toThrow(/five must be printable ASCII/);
});

test("requests that are too large are rejected before they are sent", () => {
  expect(() => build({ three: "x".repeat(9_000) })).toThrow(/URL would be longer/);
  expect(() => build({ five: "x".repeat(9_000) })).toThrow(/header x-who would be longer/);
  expect(() => build({}, { text: "x".repeat(300_000) })).toThrow(/body would be larger/);
});

test("a form has encoded values, and a list repeats its name", () => {
  const form = { ...operation, body_type: "form" as const };
  const values = new Map(Object.entries({ one: "1", two: "2", three: "3", five: "5" }));
  const { body, headers } = buildRequest(grant, form, values, { "a[]": ["x y", "&"], n: 1.5 });
  expect(body).toBe("a%5B%5D=x%20y&a%5B%5D=%26&n=1.5");
  expect(headers.get("content-type")).toBe("application/x-www-form-urlencoded");
});
