import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { maxReceivedBytes, receiving } from "@beckon/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../base/errors.ts";
import { decodeBody } from "./index.ts";

const all = { multipart: true, xml: true, ndjson: true, csv: true, gzip: true };
const form = "application/x-www-form-urlencoded";
const multipart = "multipart/form-data; boundary=x";

interface Sent {
  readonly type?: string | undefined;
  readonly encoding?: string;
  readonly bodies?: Record<string, unknown>;
  readonly template?: string;
  readonly hold?: (bytes: number) => boolean;
}

function decode(
  body: string | Uint8Array,
  { type, encoding, bodies = all, template, hold = () => true }: Sent = {},
) {
  const request = {
    method: "POST",
    url: "https://beckon.example.com/t",
    headers: { "content-type": type, "content-encoding": encoding },
    body: Buffer.from(body),
    receivedAtMs: 0,
  };
  return decodeBody(receiving.parse({ bodies, template }), request, hold);
}

/**
 * Returns a multipart form with the boundary `x` whose first part is in ISO-8859-1.
 * @param more further parts, in UTF-8
 */
function latin1Form(name: string, value: string, more = ""): Buffer {
  return Buffer.concat([
    Buffer.from(part(`name="${name}"`, value), "latin1"),
    Buffer.from(`${more}--x--\r\n`),
  ]);
}

function part(disposition: string, content: string): string {
  return `--x\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
}

async function errorOf(...sent: Parameters<typeof decode>): Promise<ApiError> {
  try {
    await decode(...sent);
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown;
    throw thrown;
  }
  throw new Error("the body was decoded");
}

describe("text, JSON and forms", () => {
  test.each([
    [undefined, "plain"],
    ["text/plain; charset=utf-8", "Grüße 👋"],
    ["text/csv", "a,b\r\n1,2"],
    ["text/xml", "<a/>"],
  ])("%s is text, also if nothing else is accepted", async (type, text) => {
    expect(await decode(text, { type, bodies: {} })).toEqual({ payload: text, text, files: [] });
  });

  test.each(["application/json", "text/json; charset=utf-8", "application/vnd.api+json"])(
    "%s is parsed, and its text is unchanged",
    async (type) => {
      const text = ' {"a" : 1.0, "b":[{}], "s":"\\"[{"}\n';
      expect(await decode(text, { type })).toEqual({
        payload: { a: 1, b: [{}], s: '"[{' },
        text,
        files: [],
      });
    },
  );

  test("an empty body of the type JSON is empty text", async () => {
    expect(await decode("", { type: "application/json" })).toMatchObject({ payload: "", text: "" });
  });

  test("the fields of a form are JSON, in which __proto__ is an ordinary field", async () => {
    const { payload, text } = await decode("a=1&b=x+y&a=2&__proto__=p", { type: form });
    expect(text).toBe('{"a":["1","2"],"b":"x y","__proto__":"p"}');
    expect(payload).toEqual(JSON.parse(text));
  });

  test("JSON with the type of a form, as curl sends it, is JSON", async () => {
    const text = '{"formula":"a=b"}';
    expect(await decode(text, { type: form })).toEqual({
      payload: { formula: "a=b" },
      text,
      files: [],
    });
    expect((await decode("100 % = 1?", { type: form })).payload).toEqual({ "100 % ": " 1?" });
    expect((await decode("no form", { type: form })).payload).toBe("no form");
  });

  test.each([
    [
      "a charset in its Content-Type",
      `${form}; charset=ISO-8859-1`,
      "name=Jos%E9&city=K%F6ln+S%FCd",
    ],
    ["a field _charset_", form, "_charset_=windows-1252&name=Jos%E9&city=K%F6ln+S%FCd"],
    ["UTF-8", `${form}; charset=utf-8`, "name=Jos%C3%A9&city=Köln+S%C3%BCd"],
    ["an unknown charset", `${form}; charset=unknown`, "name=Jos%C3%A9&city=K%C3%B6ln%20S%C3%BCd"],
  ])("a form with %s is decoded", async (_, type, body) => {
    const { payload } = await decode(body, { type });
    expect(payload).toMatchObject({ name: "José", city: "Köln Süd" });
  });

  test("a form in a charset of several bytes is decoded", async () => {
    const type = `${form}; charset="Shift_JIS"`;
    expect((await decode("name=%83A%83C", { type })).payload).toEqual({ name: "アイ" });
  });

  test("a form in a charset of 7 bits is decoded", async () => {
    const type = `${form}; charset=ISO-2022-JP`;
    const { payload } = await decode("name=%1B%24B%25%22%25%24%1B%28B+1&a=b", { type });
    expect(payload).toEqual({ name: "アイ 1", a: "b" });
  });

  test("U+FFFD is kept in a form that contains it", async () => {
    const text = `${part('name="a"', "1\ufffd")}${part('name="f"; filename="\ufffd.txt"', "x")}`;
    const { payload } = await decode(`${text}--x--\r\n`, { type: multipart });
    expect(payload).toMatchObject({ a: "1\ufffd", f: { name: "\ufffd.txt" } });
    expect((await decode("a=%EF%BF%BD", { type: form })).payload).toEqual({ a: "\ufffd" });
  });

  test.each([
    ["JSON", "application/json", "{", /not valid JSON/],
    ["form", form, "name=Jos%E9", /form is not .* UTF-8/],
    ["multipart form", multipart, latin1Form("name", "José"), /form is not .* UTF-8/],
    ["name in a form", multipart, latin1Form("José", "1"), /UTF-8/],
    ["name of a file", multipart, latin1Form('f"; filename="José.txt', "1"), /UTF-8/],
    [
      "form with U+FFFD in a field",
      multipart,
      latin1Form("name", "José", part('name="a"', "\ufffd")),
      /UTF-8/,
    ],
    [
      "form with U+FFFD in a file",
      multipart,
      latin1Form("name", "José", part('name="f"; filename="a"', "\ufffd\ufffd")),
      /UTF-8/,
    ],
    ["text", "text/plain", Buffer.from([0xff, 0xfe]), /UTF-8/],
    ["text", "text/plain", "a\u0000", /NUL/],
  ])("damaged %s is rejected", async (_, type, body, message) => {
    const error = await errorOf(body, { type });
    expect([error.code, error.message]).toEqual(["bad_request", expect.stringMatching(message)]);
  });
});

describe("types that a trigger accepts only if it is set to", () => {
  test.each([
    ["xml", "application/xml"],
    ["xml", "application/soap+xml; charset=utf-8"],
    ["ndjson", "application/x-ndjson"],
    ["ndjson", "application/jsonl"],
    ["csv", "application/csv"],
  ])("%s: %s is passed on as text", async (kind, type) => {
    const text = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>\n{"a":1}\n';
    expect(await decode(text, { type, bodies: { [kind]: true } })).toEqual({
      payload: text,
      text,
      files: [],
    });
    const error = await errorOf(text, { type, bodies: { ...all, [kind]: false } });
    expect(error.code).toBe("unsupported_type");
  });

  test("the error names what is accepted", async () => {
    const error = await errorOf("x", { type: "image/png", bodies: { xml: true, csv: true } });
    expect(error.message).toBe(
      "This trigger does not accept image/png. Send JSON, text, a URL-encoded form, XML or CSV.",
    );
  });
});

describe("compressed bodies", () => {
  const text = JSON.stringify({ text: "x".repeat(100_000) });

  test.each([
    ["gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["gzip", Buffer.concat([gzipSync(text.slice(0, 500)), gzipSync(text.slice(500))])],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
  ])("%s is inflated", async (encoding, body) => {
    expect((await decode(body, { type: "application/json", encoding })).text).toBe(text);
  });

  test("they are accepted only if the trigger is set to", async () => {
    const error = await errorOf(gzipSync("x"), { encoding: "gzip", bodies: {} });
    expect(error.code).toBe("unsupported_type");
    expect((await decode("x", { encoding: "identity", bodies: {} })).text).toBe("x");
  });

  test.each(["br", "zstd", "gzip, gzip", "compress"])("%s is rejected", async (encoding) => {
    expect((await errorOf(gzipSync("x"), { encoding })).code).toBe("unsupported_type");
  });

  test.each([
    ["a truncated one", "gzip", gzipSync(text).subarray(0, -9)],
    ["one with a wrong checksum", "gzip", withWrongChecksum(gzipSync(text))],
    ["one that is not compressed", "gzip", Buffer.from(text)],
    ["an empty one", "gzip", Buffer.alloc(0)],
    ["a truncated one", "deflate", deflateSync(text).subarray(0, -2)],
  ])("%s is rejected", async (_, encoding, body) => {
    const error = await errorOf(body, { encoding });
    expect([error.code, error.message]).toEqual(["bad_request", expect.stringContaining("valid")]);
  });

  test("a bomb is rejected as soon as it is above the limit", async () => {
    // 1,000 MiB of zeros in about 1 MB.
    const mebibyte = gzipSync(Buffer.alloc(1_048_576));
    const bomb = Buffer.concat(Array(1_000).fill(mebibyte));
    let held = 0;
    const hold = (bytes: number) => {
      held += bytes;
      return true;
    };
    const error = await errorOf(bomb, {
      encoding: "gzip",
      bodies: { ...all, max_bytes: 2_000_000 },
      hold,
    });
    expect([error.code, error.message]).toEqual([
      "too_large",
      "The body is larger than 2,000,000 bytes after it is inflated. Send less, or a link to it.",
    ]);
    expect(held).toBeLessThanOrEqual(2_000_000);
  });

  test("a process that cannot hold the inflated body says so", async () => {
    let held = 0;
    const hold = (bytes: number) => {
      held += bytes;
      return held <= 70_000;
    };
    const error = await errorOf(gzipSync(text), { encoding: "gzip", hold });
    expect([error.code, error.retryAfter]).toEqual(["unavailable", 1]);
  });
});

/**
 * Replaces the checksum. Gzip data ends with 4 bytes of checksum and 4 bytes of size (RFC 1952,
 * section 2.3).
 */
function withWrongChecksum(gzip: Buffer): Buffer {
  return Buffer.concat([gzip.subarray(0, -8), Buffer.alloc(4, 1), gzip.subarray(-4)]);
}

describe("limits", () => {
  test("a body above the trigger's limit is rejected", async () => {
    const bodies = { max_bytes: 1_024 };
    expect((await decode("x".repeat(1_024), { bodies })).text.length).toBe(1_024);
    expect((await errorOf("x".repeat(1_025), { bodies })).code).toBe("too_large");
  });

  test("a form has at most 1,000 fields", async () => {
    const fields = (count: number) => Array(count).fill("a=1").join("&");
    expect((await decode(fields(1_000), { type: form })).payload).toEqual({
      a: Array(1_000).fill("1"),
    });
    const error = await errorOf(fields(10_000), { type: form });
    expect([error.code, error.message]).toEqual([
      "bad_request",
      "The form has more than 1,000 fields. Send fewer fields.",
    ]);
  });

  test("a form that is longer as JSON counts as that much, and needs that much memory", async () => {
    const controls = `a=${"\u0001".repeat(1_000)}`;
    const held: number[] = [];
    const { text } = await decode(controls, { type: form, hold: (bytes) => held.push(bytes) > 0 });
    expect(held).toEqual([text.length - controls.length]);
    expect((await errorOf(controls, { type: form, hold: () => false })).code).toBe("unavailable");
  });

  test("a form that is larger than 1 MiB as JSON needs a template", async () => {
    const controls = `a=${"\u0001".repeat(200_000)}`;
    const error = await errorOf(controls, { type: form });
    expect([error.code, error.message]).toEqual([
      "too_large",
      "The body is larger than 1,048,576 bytes (1 MiB) after it is converted to JSON. Send less, or a link to it.",
    ]);
    const { text } = await decode(controls, { type: form, template: "{{ payload.a }}" });
    expect(text.length).toBe(1_200_008);
  });

  test("JSON is nested at most 200 levels deep", async () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const type = "application/json";
    for (const text of [nested(200), objects(200), JSON.stringify("[".repeat(1_000))]) {
      expect((await decode(text, { type })).text).toBe(text);
    }
    for (const text of [nested(201), objects(201), nested(500_000), "[".repeat(1_000_000)]) {
      expect((await errorOf(text, { type })).message).toContain("nested more than 200 levels");
    }
  });

  test("JSON with the type of a form is nested at most 200 levels deep, or it is text", async () => {
    const text = `${"[".repeat(500_000)}"="${"]".repeat(500_000)}`;
    expect((await decode(text, { type: form })).payload).toBe(text);
  });

  test("25 MiB of JSON are decoded", async () => {
    const text = JSON.stringify({ text: "x".repeat(maxReceivedBytes - 11) });
    expect(text.length).toBe(maxReceivedBytes);
    const bodies = { ...all, max_bytes: maxReceivedBytes };
    const { payload } = await decode(text, { type: "application/json", bodies });
    expect(payload).toMatchObject({ text: expect.any(String) });
  });
});

test("any JSON is decoded as JSON.parse does, however strings are escaped", async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ stringUnit: "binary", maxDepth: 6 }), async (text) => {
      if (!text.isWellFormed()) return;
      const { payload } = await decode(text, { type: "application/json" });
      expect(payload).toEqual(JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

test("any bytes of any type are decoded or rejected with a clear error", async () => {
  const type = fc.constantFrom(
    undefined,
    "text/plain",
    "application/json",
    form,
    "application/xml",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "image/png",
    ";",
  );
  const encoding = fc.constantFrom("identity", "gzip", "deflate", "br");
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
    fc.json().map((text) => Buffer.from(text)),
    fc.json().map((text) => gzipSync(text)),
    fc.json().map((text) => deflateSync(text)),
    fc
      .array(
        fc.constantFrom("--x", "\r\n", "--", 'Content-Disposition: form-data; name="a"', "b", ": "),
      )
      .map((parts) => Buffer.from(parts.join(""))),
  );
  await fc.assert(
    fc.asyncProperty(type, encoding, body, async (sentType, sentEncoding, bytes) => {
      try {
        const { text, files } = await decode(bytes, { type: sentType, encoding: sentEncoding });
        expect(text.isWellFormed() && !text.includes("\u0000")).toBe(true);
        expect(Array.isArray(files)).toBe(true);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(ApiError);
        expect((thrown as ApiError).message).toMatch(/^[A-Z].*\.$/s);
      }
    }),
    { numRuns: 1_000 },
  );
});
