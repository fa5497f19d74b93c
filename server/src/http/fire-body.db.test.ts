import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const bare = await beckon.createTrigger(agent.id);
const prefixed = await beckon.createTrigger(agent.id, { prompt_prefix: "Prefix" });

/** Sends bytes without a Content-Type, unless one is given. */
const fire = (body: string | Uint8Array, type: string | undefined, { url } = bare) =>
  beckon.call(url, {
    method: "POST",
    credential: null,
    body: Buffer.from(body),
    headers: type === undefined ? {} : { "content-type": type },
  });

async function inputOf(body: string | Uint8Array, type: string | undefined): Promise<string> {
  const answer = await fire(body, type);
  expect(answer.body).toMatchObject({ ok: true });
  return (await beckon.call(`/runs/${answer.body.run_id}`)).body.data.input;
}

const odd = ' {"a" : 1.0,\r\n"a":2, "é":"\\u00e9"}\n';

test.each([
  ["text without a type", undefined, "a=1&b={ \t\n"],
  ["text/plain", "text/plain", odd],
  ["text/plain with a charset", "text/plain; charset=utf-8", "Grüße 👋"],
  ["text/html", "text/html", "<p>&amp;</p>"],
  ["text in capitals", "TEXT/CSV", "a,b\r\n1,2"],
  ["application/json", "application/json", odd],
  ["JSON with a charset", "application/json; charset=utf-8", odd],
  ["JSON in capitals", "Application/JSON", odd],
  ["JSON that is a number", "application/json", "12345678901234567890"],
  ["JSON of a vendor", "application/vnd.github.v3+json", odd],
  ["CloudEvents", "application/cloudevents+json", odd],
  ["model/json", "model/json", odd],
  ["text/json", "text/json", odd],
  ["text that begins with a byte order mark", "text/plain", "\ufeffHello"],
  ["JSON that begins with a byte order mark", "application/json", '\ufeff{"a":1}'],
  ["text of white space", "text/plain", " \n"],
])("%s is passed on byte for byte", async (_, type, body) => {
  expect(await inputOf(body, type)).toBe(body);
});

const form = "application/x-www-form-urlencoded";

test.each([
  [
    "a form becomes a JSON object",
    "name=Ada+L.&note=caf%C3%A9%20%26+tea",
    '{"name":"Ada L.","note":"café & tea"}',
  ],
  [
    "repeated names of a form become a list",
    "tag=a&other=x&tag=b&tag=c",
    '{"tag":["a","b","c"],"other":"x"}',
  ],
  ["a field without a value is an empty string", "a=&b", '{"a":"","b":""}'],
  ["a field called __proto__ is an ordinary field", "__proto__=x", '{"__proto__":"x"}'],
  ["an escaped NUL in a form stays an escape", "a=%00", '{"a":"\\u0000"}'],
  [
    "JSON with curl's default content type is passed on unchanged",
    '{"formula": "a=b&c=d"}',
    '{"formula": "a=b&c=d"}',
  ],
  [
    "text without = with curl's default content type is passed on unchanged",
    "100% of & + all",
    "100% of & + all",
  ],
])("%s", async (_, body, input) => {
  expect(await inputOf(body, form)).toBe(input);
});

test("a form type can have a charset", async () => {
  expect(await inputOf("a=1", `${form}; charset=UTF-8`)).toBe('{"a":"1"}');
});

test.each([
  "multipart/form-data; boundary=x",
  "application/octet-stream",
  "application/xml",
  "image/png",
  "application/jsonl",
  "json",
  "nonsense",
])("the content type %s is rejected with 415", async (type) => {
  expectError(await fire('{"a":1}', type), 415, "unsupported_type");
});

test("a form that is larger than 1 MiB as JSON is rejected with 413", async () => {
  const answer = await fire(`a=${"\u0001".repeat(200_000)}`, form);
  expectError(answer, 413, "too_large", /1 MiB\) after it is converted to JSON/);
});

test("a compressed body is rejected with 415", async () => {
  const answer = await beckon.call(bare.url, {
    credential: null,
    body: Buffer.from("Hello"),
    headers: { "content-encoding": "gzip" },
  });
  expectError(answer, 415, "unsupported_type", /Content-Encoding/);
});

test.each([
  ["JSON that does not parse", '{"a":', "application/json", /JSON/],
  ["JSON of a vendor that does not parse", "a=1", "application/vnd.x+json", /JSON/],
  ["text/json that does not parse", '{"a":', "text/json", /JSON/],
  ["a NUL byte in text", "a\0b", "text/plain", /NUL/],
  ["a NUL byte without a type", "a\0b", undefined, /NUL/],
  ["a NUL byte in JSON", '"a\0b"', "application/json", /NUL/],
  [
    "text that is not UTF-8",
    Buffer.from("Grüße", "latin1"),
    "text/plain; charset=iso-8859-1",
    /UTF-8/,
  ],
  ["an overlong form of UTF-8", Buffer.from([0xc0, 0xaf]), "text/plain", /UTF-8/],
  ["a lone surrogate in UTF-8", Buffer.from([0xed, 0xa0, 0x80]), "text/plain", /UTF-8/],
  ["a form that is not UTF-8", Buffer.from("a=é", "latin1"), form, /UTF-8/],
])("%s is rejected with 400", async (_, body, type, text) => {
  expectError(await fire(body, type), 400, "bad_request", text);
});

test.each([undefined, "text/plain", "application/json", form])(
  "an empty body of type %s is rejected without a prefix",
  async (type) => {
    expectError(await fire("", type), 400, "bad_request", /empty/);
  },
);

test.each([undefined, "text/plain", "application/json", form])(
  "an empty body of type %s is accepted with a prefix",
  async (type) => {
    const { status, body } = await fire("", type, prefixed);
    expect(status).toBe(200);
    expect((await beckon.call(`/runs/${body.run_id}`)).body.data.input).toBe("Prefix");
  },
);

test("a fire without any body is accepted with a prefix", async () => {
  const { status } = await beckon.call(prefixed.url, { method: "POST", credential: null });
  expect(status).toBe(200);
});
