import { receiving } from "@beckon/contract";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { cloudEvent, exampleOf } from "../../test/senders.ts";
import { decodeBody, presets, type RawRequest, readEvent } from "./index.ts";
import { sourceAt } from "./json-source.ts";

const url = "https://beckon.example.com/api/public/triggers/bkt_0123456789";

async function eventOf(
  settings: Record<string, unknown>,
  {
    body = "",
    headers = {},
    query = "",
  }: { body?: string; headers?: Record<string, string>; query?: string },
) {
  const parsed = receiving.parse(settings);
  const request: RawRequest = {
    method: "POST",
    url: url + query,
    headers: { "content-type": "application/json", ...headers },
    body: Buffer.from(body),
    receivedAtMs: 0,
  };
  return readEvent(parsed, request, await decodeBody(parsed, request, () => true));
}
const idAt = async (pointer: string, body: string) =>
  (await eventOf({ event_id: { pointer } }, { body })).id;

test.each([
  ["github", "push", "0b989ba4-242f-11e5-81e1-c7b6966d2516", "push"],
  ["gitlab", "push", "f5e5f430-f57b-4e6e-9fac-d9128cd7232f", "Push Hook"],
  ["stripe", undefined, "evt_3PgafmB7WZ01zgkW0pKe5XnL", "payment_intent.succeeded"],
  ["slack", "app_mention", "Ev0LAN670R", "app_mention"],
  ["slack", "slash command", null, null],
  ["shopify", undefined, "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043", "orders/create"],
  ["linear", undefined, "234d1a4e-b617-4388-90fe-adc3633d6b72", "Issue"],
  ["twilio", undefined, "d9c0f1d4-7a0f-4b57-9d10-5f0f0b3c2f10", "received"],
  ["standard-webhooks", undefined, "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", "contact.created"],
  ["svix", undefined, "msg_p5jXN8AQM9LWM0D4loKWxJek", "user.created"],
  ["meta", undefined, null, "whatsapp_business_account"],
  ["dropbox", undefined, null, null],
  ["cloudevents", "binary", "/orders A234-1234-1234", "com.example.order.created"],
  ["hmac", undefined, null, null],
] as const)("%s: id and type of the example %s", async (name, example, id, type) => {
  const preset = presets.find((each) => each.name === name);
  const { headers, body } = exampleOf(name, example);
  expect(await eventOf(preset?.receiving ?? {}, { headers, body })).toEqual({ id, type });
});

test.each([
  ["authorization", {}],
  ["x-api-key", {}],
  ["x-hub-signature-256", {}],
  ["x-verify", { verification: { kind: "header", header: "x-verify" } }],
])("no id or type contains the value of %s", async (header, settings) => {
  const located = { ...settings, event_id: { header }, event_type: { header } };
  const first = await eventOf(located, { headers: { [header]: "secret" } });
  expect(first).toEqual({ id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), type: null });
  expect(await eventOf(located, { headers: { [header]: "secret" } })).toEqual(first);
  expect((await eventOf(located, { headers: { [header]: "other" } })).id).not.toBe(first.id);
});

test("no id or type contains the token of a trigger", async () => {
  const located = { event_id: { header: "referer" }, event_type: { header: "x-path" } };
  const path = `/bkt_${"a".repeat(43)}`;
  const event = await eventOf(located, { headers: { referer: path, "x-path": path } });
  expect(event).toEqual({ id: "/[secret]", type: "/[secret]" });
});

describe("CloudEvents", () => {
  const settings = { event_id: "cloudevents", event_type: "cloudevents" };

  test.each(["binary", "structured"] as const)("as the SDK sends them, %s", async (mode) => {
    const { headers, body } = cloudEvent(mode, "event-1");
    expect(await eventOf(settings, { headers, body })).toEqual({
      id: "/orders/north%20sea event-1",
      type: "com.example.order.created",
    });
  });

  test("the same id of another source is another event", async () => {
    const ids = await Promise.all(
      [
        ["a", "b c"],
        ["a b", "c"],
      ].map(async ([source, id]) => {
        const body = JSON.stringify({ source, id, type: "t" });
        const headers = { "content-type": "application/cloudevents+json" };
        return (await eventOf(settings, { headers, body })).id;
      }),
    );
    expect(new Set(ids).size).toBe(2);
  });

  test("an event without source or id has no id", async () => {
    for (const headers of [
      { "ce-id": "1" },
      { "ce-source": "/a" },
      { "ce-id": "", "ce-source": "/a" },
    ]) {
      expect((await eventOf(settings, { headers })).id).toBeNull();
    }
  });

  test("a batch has no id", async () => {
    const headers = { "content-type": "application/cloudevents-batch+json" };
    const body = '[{"id":"1","source":"/a","type":"t"}]';
    expect(await eventOf(settings, { headers, body })).toEqual({ id: null, type: null });
  });

  test("header values are percent-decoded, unless they are damaged", async () => {
    const idOf = async (id: string) =>
      (await eventOf(settings, { headers: { "ce-id": id, "ce-source": "/a" } })).id;
    expect(await idOf("Zo%C3%AB")).toBe("/a Zoë");
    expect(await idOf("100%")).toBe("/a 100%");
  });
});

describe("a JSON pointer", () => {
  test.each([
    ["/id", '{"id":"a"}', "a"],
    ["/a/b/1", '{"a":{"b":["x","y"]}}', "y"],
    ["/a~1b/c~0d", '{"a/b":{"c~d":"x"}}', "x"],
    ["/~01", '{"~1":"x"}', "x"],
    ["/", '{"":"x"}', "x"],
    ["/id", '{"id":7}', "7"],
    ["/id", '{"id":-1.5}', "-1.5"],
    ["/__proto__/id", '{"__proto__":{"id":"own"}}', "own"],
  ])("%s of %s is %j", async (pointer, body, id) => expect(await idAt(pointer, body)).toBe(id));

  test.each([
    ["/id", "{}"],
    ["/id", '{"id":""}'],
    ["/id", '{"id":null}'],
    ["/id", '{"id":true}'],
    ["/id", '{"id":{}}'],
    ["/id", "null"],
    ["/id", '"text"'],
    ["/length", '"text"'],
    ["/0", '"text"'],
    ["/length", "[1]"],
    ["/01", "[1,2]"],
    ["/-", "[1]"],
    ["/constructor/name", "{}"],
    ["/__proto__/constructor/name", "{}"],
  ])("%s of %s is not there", async (pointer, body) =>
    expect(await idAt(pointer, body)).toBeNull(),
  );

  test("the digits of a number above 2^53 are kept, so that two events stay two", async () => {
    expect(await idAt("/a/id", '{"a":{"id":12345678901234567891}}')).toBe("12345678901234567891");
    expect(await idAt("/a/id", '{"a":{"id":12345678901234567892}}')).toBe("12345678901234567892");
  });

  test("such a number is found in any JSON, also after a byte order mark", async () => {
    const large = "12345678901234567891";
    expect(await idAt("/id", `\ufeff {"id" : ${large} }`)).toBe(large);
    const escaped = `{"a\\"":[{"]":1},{"\\u005d":${large},"b":"]"}]}`;
    expect(sourceAt(escaped, '/a"/1/]')).toBe(large);
    expect([sourceAt("[1, 2.50 ]", "/1"), sourceAt("[1]", "/1"), sourceAt("[1]", "/a/b")]).toEqual([
      "2.50",
      undefined,
      undefined,
    ]);
    // No key contains a character that JSON escapes, because of a bug in V8 13.6: its `JSON.parse`
    // can read an escaped quote as a backslash.
    const key = fc.constantFrom("a", "b", "}", "[", ",", "__proto__", "");
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.constant(large), tie("list"), tie("object")),
      list: fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(" , ")}]`),
      object: fc
        .uniqueArray(fc.tuple(key, tie("value")), { selector: ([name]) => name, maxLength: 3 })
        .map((fields) => `{${fields.map(([name, each]) => `${JSON.stringify(name)}: ${each}`)}}`),
    }));
    fc.assert(
      fc.property(value, (json) => {
        const text = String(json);
        const walk = (found: unknown, pointer: string): void => {
          if (typeof found === "number") expect(sourceAt(text, pointer)).toBe(large);
          else
            for (const [name, each] of Object.entries(found as object))
              walk(each, `${pointer}/${name}`);
        };
        walk(JSON.parse(text), "");
      }),
      { numRuns: 300 },
    );
  });

  test("of several fields with one name, the last one counts at each level", () => {
    expect(sourceAt('{"a":{"b":1.5,"b":2.5},"c":{"b":3.5}}', "/a/b")).toBe("2.5");
    expect(sourceAt('{"a":{"b":1.5},"a":{"b":2.5}}', "/a/b")).toBe("2.5");
    expect(sourceAt('{"a":{"b":1.5},"a":{"c":2.5}}', "/a/b")).toBeUndefined();
    expect(sourceAt('{"a":{"b":1.5},"a":[]}', "/a/b")).toBeUndefined();
  });

  test("the JSON is read once, however deep the number is", () => {
    const levels = 199;
    const text = `${'{"b":"","a":['.repeat(levels)}1.5${'],"b":""}'.repeat(levels)}`;
    // Each string is read with one call of `indexOf`.
    const indexOf = vi.spyOn(String.prototype, "indexOf");
    onTestFinished(() => indexOf.mockRestore());
    const source = sourceAt(text, "/a/0".repeat(levels));
    const read = indexOf.mock.calls.length;
    expect(source).toBe("1.5");
    expect(read).toBe(5 * levels);
  });

  test("a field of a form is read", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const event = await eventOf({ event_id: { pointer: "/id" } }, { headers, body: "id=a+b" });
    expect(event.id).toBe("a b");
  });
});

test("a header and a query parameter are read, the first one if there are several", async () => {
  const settings = { event_id: { header: "x-id" }, event_type: { query: "type" } };
  const event = await eventOf(settings, { headers: { "x-id": "1" }, query: "?type=a%20b&type=c" });
  expect(event).toEqual({ id: "1", type: "a b" });
});

test("an id that cannot be stored is replaced by its hash, and stays distinct", async () => {
  const ids = await Promise.all(
    ["a".repeat(201), `${"a".repeat(200)}b`, "a\\u0000", "a\\ud800", "\\ud800", "\\ud801"].map(
      (id) => idAt("/id", `{"id":"${id}"}`),
    ),
  );
  for (const id of ids) expect(id).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect(await idAt("/id", `{"id":"${"a".repeat(200)}"}`)).toBe("a".repeat(200));
});

test("a long type is truncated, and characters that cannot be stored are replaced", async () => {
  const typeOf = async (type: string) =>
    (await eventOf({ event_type: { pointer: "/type" } }, { body: `{"type":"${type}"}` })).type;
  expect(await typeOf("a".repeat(300))).toBe("a".repeat(200));
  expect(await typeOf("a\\u0000b\\ud800")).toBe("ab\ufffd");
});

test("any JSON and any pointer give an id that can be stored, or none", async () => {
  const pointer = fc
    .array(fc.oneof(fc.constantFrom("a", "0", "__proto__", "~1"), fc.string({ maxLength: 3 })))
    .map((tokens) => tokens.map((token) => `/${token.replaceAll(/[~/]/g, "~0")}`).join("") || "/");
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), pointer, async (body, at) => {
      if (!receiving.safeParse({ event_id: { pointer: at } }).success) return;
      const id = await idAt(at, body);
      expect(id === null || (id.length > 0 && id.length <= 200 && id.isWellFormed())).toBe(true);
    }),
    { numRuns: 300 },
  );
});
