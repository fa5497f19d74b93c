import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();

/** Sends bytes without a Content-Type, unless one is given. */
const send = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  beckon.call(`/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: Buffer.from(body),
    headers,
  });

test.each([
  undefined,
  "application/json",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "nonsense",
])("the body is read as JSON with the Content-Type %s", async (type) => {
  const { status, body } = await send(
    '{"input":"Hello"}',
    type === undefined ? {} : { "content-type": type },
  );
  expect([status, body.output]).toEqual([200, "Hello"]);
});

test("fields that invoke does not know are ignored", async () => {
  const { status, body } = await send(
    '{"input":"Hello","stream":true,"metadata":{"a":[1]},"output":7}',
  );
  expect([status, body.output]).toEqual([200, "Hello"]);
});

test("the decoded input counts", async () => {
  const { body } = await send(String.raw`{"input":"\u0048\u00e9\ud83d\udc4b\n"}`);
  expect(body.output).toBe("Hé👋\n");
});

test("white space is a valid input", async () => {
  const { status, body } = await send('{"input":" "}');
  expect([status, body.output]).toEqual([200, "The message is blank."]);
});

test("a byte order mark before the JSON is skipped", async () => {
  const { status, body } = await send('\ufeff{"input":"Hello"}');
  expect([status, body.output]).toEqual([200, "Hello"]);
});

test.each([
  ["is empty", "", /body/],
  ["breaks off", '{"input":"Hel', /JSON/],
  ["is no JSON", "input=Hello", /JSON/],
  ["is JSON, but a string", '"Hello"', /object/],
  ["is JSON, but a list", '["Hello"]', /object/],
  ["is null", "null", /object/],
  ["has no input", '{"inputs":"Hello"}', /input/],
  ["has an empty input", '{"input":""}', /input.*empty/],
  ["has null as its input", '{"input":null}', /input.*string/],
  ["has a number as its input", '{"input":5}', /input.*string/],
  ["has an object as its input", '{"input":{"text":"Hello"}}', /input.*string/],
  ["has an escaped NUL in its input", String.raw`{"input":"a\u0000b"}`, /NUL/],
  ["contains a NUL byte", Buffer.from('{"input":"a\0b"}'), /NUL/],
  ["has a lone surrogate in its input", String.raw`{"input":"a\ud800b"}`, /surrogate/],
  [
    "has the surrogates of a pair in the wrong order",
    String.raw`{"input":"\udc4b\ud83d"}`,
    /surrogate/,
  ],
  [
    "is not UTF-8",
    Buffer.from([...Buffer.from('{"input":"'), 0xff, ...Buffer.from('"}')]),
    /UTF-8/,
  ],
  [
    "is compressed",
    Buffer.from("1f8b08000000000000ffaa56cacc2b282d51b25250f248cdc9c957aa050000ffff", "hex"),
    /body/,
  ],
])("a body that %s is rejected with 400", async (_, body, text) => {
  expectError(await send(body), 400, "bad_request", text);
});

test("a body with a Content-Encoding is rejected with 415", async () => {
  const answer = await send(gzipSync('{"input":"Hello"}'), { "content-encoding": "gzip" });
  expectError(answer, 415, "unsupported_type", /Content-Encoding/);
});

test("a rejected body starts no run", async () => {
  const other = await beckon.createAgent();
  await beckon.call(`/agents/${other.id}/invoke`, { credential: other.token, body: { input: "" } });
  const { body } = await beckon.call(`/agents/${other.id}/runs`);
  expect(body.data).toEqual([]);
});

describe("fields that are ignored are named in a response header", () => {
  const named = async (body: unknown, headers: Record<string, string> = {}) => {
    const answer = await beckon.call(`/agents/${agent.id}/invoke`, {
      credential: agent.token,
      body,
      headers,
    });
    return [answer.status, answer.headers.get("beckon-ignored-fields")];
  };

  test("of a run that succeeded", async () => {
    expect(await named({ input: "Hello", stream: true, größe: 1 })).toEqual([
      200,
      "stream, gr%C3%B6%C3%9Fe",
    ]);
    expect(await named({ input: "Hello" })).toEqual([200, null]);
  });

  test("of a run that is not waited for, and of one that is streamed", async () => {
    expect(await named({ input: "Hello", a: 1 }, { prefer: "respond-async" })).toEqual([202, "a"]);
    expect(await named({ input: "Hello", a: 1 }, { accept: "text/event-stream" })).toEqual([
      200,
      "a",
    ]);
  });

  test("of a request without input, which shows that it was misspelt", async () => {
    expect(await named({ inputs: "Hello" })).toEqual([400, "inputs"]);
  });
});
