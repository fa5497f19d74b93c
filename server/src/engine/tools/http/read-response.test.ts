import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { ByteBudget } from "../../../base/byte-budget.ts";
import { scrubberFor } from "../../../base/secrets/index.ts";
import { readResponse } from "./read-response.ts";

const scrubber = scrubberFor([]);

function read(sent: Buffer<ArrayBuffer>, headers: Record<string, string>, maxBytes = 100_000) {
  const memory = new ByteBudget({ maxBytes: 1_000_000 }).hold("A");
  return readResponse(new Response(sent, { status: 201, headers }), { maxBytes, scrubber, memory });
}

test.each<[string, Buffer<ArrayBuffer>, string]>([
  ["text/plain", Buffer.from("\uFEFFä€", "utf16le"), "ä€"],
  ["text/plain", Buffer.from("\uFEFFä€", "utf16le").swap16(), "ä€"],
  ["text/plain; charset = windows-1252", Buffer.from([0x80]), "€"],
])(
  "a body is decoded by its byte order mark and its charset (%s, %o)",
  async (type, sent, body) => {
    expect(await read(sent, { "content-type": type })).toMatchObject({ body });
  },
);

test.each(["text/html", "application/json", "application/vnd.api+json"])(
  "text is shown except for the bytes that are not valid (%s)",
  async (type) => {
    const sent = Buffer.from('{"café":1}', "latin1");
    expect(await read(sent, { "content-type": type })).toMatchObject({
      body: { "caf\uFFFD": 1 },
      note: "Some bytes of the body are not valid utf-8 and are shown as \uFFFD.",
    });
  },
);

const text = "x".repeat(9_999);

test.each<[string, Buffer<ArrayBuffer>]>([
  ["gzip", gzipSync(text)],
  ["X-GZIP", gzipSync(text)],
  ["deflate", deflateSync(text)],
  ["deflate", deflateRawSync(text)],
  ["Identity", Buffer.from(text)],
  ["", Buffer.from(text)],
  ["utf-8", Buffer.from(text)],
  ["aws-chunked, gzip", gzipSync(text)],
])("a compressed body is inflated (%s)", async (coding, sent) => {
  expect(await read(sent, { "content-encoding": coding })).toMatchObject({ body: text });
});

test("a compressed body is inflated only as far as it is shown", async () => {
  const sent = gzipSync("x".repeat(100_000_000));
  expect(await read(sent, { "content-encoding": "gzip" }, 1_000)).toMatchObject({
    body: "x".repeat(1_000),
    note: "The body was truncated: it has more than 1000 bytes, and only the first ones are shown.",
  });
});

test.each<[string, Buffer<ArrayBuffer>, string]>([
  ["br", brotliCompressSync("x"), "The body is compressed (br) and is not shown."],
  ["gzip, gzip", gzipSync(gzipSync("x")), "The body is compressed (gzip, gzip) and is not shown."],
  ["gzip", Buffer.from("no gzip"), "The compressed body is damaged and is not shown."],
  ["gzip", gzipSync(text).subarray(0, 20), "The compressed body is damaged and is not shown."],
])(
  "without its compressed body, a response has its status (%s, %o)",
  async (coding, sent, note) => {
    expect(await read(sent, { "content-encoding": coding })).toMatchObject({ status: 201, note });
  },
);

test("an empty body can have a content encoding", async () => {
  const result = await read(Buffer.from(""), { "content-encoding": "gzip" });
  expect(result).not.toHaveProperty("note");
});

test("a response is read although the secret is 4,000 special characters", async () => {
  const secret = "-".repeat(4_000);
  const response = Response.json({ sent: secret });
  const options = { maxBytes: 100_000, scrubber: scrubberFor([secret]) };
  expect(await readResponse(response, options)).toMatchObject({ body: { sent: "[secret]" } });
});
