import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../base/errors.ts";
import { readMultipart } from "./multipart.ts";

const type = "multipart/form-data; boundary=x-BOUNDARY";
const part = (disposition: string, content: string, headers = "") =>
  `--x-BOUNDARY\r\nContent-Disposition: form-data; ${disposition}\r\n${headers}\r\n${content}\r\n`;
const field = (name: string, value: string) => part(`name="${name}"`, value);
const end = "--x-BOUNDARY--\r\n";
const read = (text: string | Buffer, contentType = type) =>
  readMultipart(Buffer.from(text), contentType);

async function errorOf(...sent: Parameters<typeof read>): Promise<string> {
  try {
    await read(...sent);
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === "bad_request") return thrown.message;
    throw thrown;
  }
  throw new Error("the form was read");
}

/** Returns a form as browsers and `fetch` send it. */
async function sent(form: FormData): Promise<[Buffer, string]> {
  const request = new Request("http://x.test", { method: "POST", body: form });
  const contentType = request.headers.get("content-type") ?? "";
  return [Buffer.from(await request.arrayBuffer()), contentType];
}

test("the form that fetch sends is read: fields in order, files as artifacts", async () => {
  const form = new FormData();
  form.append("name", "Zoë");
  form.append("tag", "a");
  form.append("tag", "b");
  form.append("photo", new File([new Uint8Array([0, 1, 255])], "ä b.png", { type: "image/png" }));
  form.append("__proto__", "own");
  const { fields, files } = await readMultipart(...(await sent(form)));
  const [photo] = files;
  expect(photo).toEqual({
    id: expect.stringMatching(/^art_/),
    field: "photo",
    name: "ä b.png",
    media_type: "image/png",
    size: 3,
    content: Buffer.from([0, 1, 255]),
  });
  expect(JSON.stringify(fields)).toBe(
    JSON.stringify(
      Object.fromEntries([
        ["name", "Zoë"],
        ["tag", ["a", "b"]],
        ["__proto__", "own"],
        ["photo", { name: "ä b.png", type: "image/png", size: 3, id: photo?.id }],
      ]),
    ),
  );
});

test.each(["windows-1252", "iso-8859-1"])(
  "a field in %s keeps its quotation marks, and others stay as they are",
  async (charset) => {
    const bytes = Buffer.concat([
      Buffer.from(`${field("a", "Zoë “1 €”")}${field("b", "Zoë")}`),
      Buffer.from(
        part(
          'name="c"',
          "Zo\xeb \x931 \x80\x94",
          `Content-Type: text/plain; charset=${charset}\r\n`,
        ),
        "latin1",
      ),
      Buffer.from(end),
    ]);
    expect((await read(bytes)).fields).toEqual({ a: "Zoë “1 €”", b: "Zoë", c: "Zoë “1 €”" });
  },
);

test("a file in a file input that was left empty is left out, an empty file with a name is not", async () => {
  const empty = part('name="a"; filename=""', "", "Content-Type: application/octet-stream\r\n");
  const named = part('name="b"; filename="b.txt"', "", "Content-Type: text/plain\r\n");
  const { fields, files } = await read(empty + named + end);
  expect(files.map(({ name, size }) => [name, size])).toEqual([["b.txt", 0]]);
  expect(Object.keys(fields)).toEqual(["b"]);
});

test("a form without parts is empty", async () => {
  expect(await read(end)).toEqual({ fields: {}, files: [] });
});

test("a large file is read in pieces, without loss", async () => {
  const content = Buffer.alloc(3_000_000, "0123456789\r\n--x");
  const form = new FormData();
  form.append("file", new File([content], "a.bin", { type: "application/octet-stream" }));
  const { files } = await readMultipart(...(await sent(form)));
  expect(files[0]?.content.equals(content)).toBe(true);
});

describe("names of files", () => {
  test.each([
    ["../../etc/passwd", "passwd"],
    ["C:\\\\temp\\\\a.txt", "a.txt"],
    ["a\u0001b\u007f.txt", "ab.txt"],
    [`${"a".repeat(300)}.txt`, "a".repeat(255)],
    ["..", "file"],
  ])("%j becomes %j", async (sentName, name) => {
    const { files } = await read(part(`name="f"; filename="${sentName}"`, "x") + end);
    expect(files[0]?.name).toBe(name);
  });

  test.each(["text/html; charset=utf-8", "nonsense", `a/${"b".repeat(100)}`, "a/b\tc"])(
    "the media type %j is one that can be sent",
    async (mediaType) => {
      const { files } = await read(
        part('name="f"; filename="a"', "x", `Content-Type: ${mediaType}\r\n`) + end,
      );
      expect(files[0]?.media_type).toMatch(/^(text\/html|application\/octet-stream)$/);
    },
  );
});

describe("what is rejected", () => {
  test.each([
    ["no boundary", field("a", "1") + end, "multipart/form-data"],
    ["another boundary", field("a", "1") + end, "multipart/form-data; boundary=other"],
    ["a missing end", field("a", "1"), type],
    ["a part that is truncated", field("a", "1").slice(0, -10), type],
    ["an empty body", "", type],
    ["text", "hello", type],
  ])("%s", async (_, text, contentType) => {
    expect(await errorOf(text, contentType)).toContain("not complete, valid multipart/form-data");
  });

  test.each([
    ["a part without a name", part("", "1") + end, "has no name"],
    ["a part with an empty name", field("", "1") + end, "has no name"],
    ["a file without a name of its field", part('filename="a"', "1") + end, "has no name"],
    ["a long name", field("a".repeat(256), "1") + end, "name of a field is not valid"],
    ["a value with NUL", `${field("a", "1\u00002")}${end}`, "NUL"],
  ])("%s", async (_, text, message) => expect(await errorOf(text)).toContain(message));

  test("10,000 fields", async () => {
    const text = Array.from({ length: 10_000 }, (_, n) => field(`f${n}`, "1")).join("") + end;
    expect(await errorOf(text)).toBe("The form has more than 1,000 fields. Send fewer fields.");
  });

  test("1,000 files", async () => {
    const file = part('name="f"; filename="a"', "x");
    expect(await errorOf(file.repeat(1_000) + end)).toBe(
      "The form has more than 100 files. Send fewer files.",
    );
    expect((await read(file.repeat(100) + end)).files.length).toBe(100);
  });

  test("a flood of headers in a part is not read", async () => {
    const headers = "X-Header: x\r\n".repeat(100_000);
    const text = part('name="a"', "1", headers) + end;
    const result = await read(text).catch((thrown: unknown) => thrown);
    expect(
      result instanceof ApiError ||
        JSON.stringify(result) === JSON.stringify({ fields: { a: "1" }, files: [] }),
    ).toBe(true);
  });
});

test("while a large form is read, other work is done", async () => {
  const text = Buffer.from(field("a", "x".repeat(8_000_000)) + end);
  let turns = 0;
  let isRead = false;
  const takeTurn = () => {
    turns++;
    if (!isRead) setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  await read(text);
  isRead = true;
  expect(turns).toBeGreaterThan(20);
});

test("any fields and files are read as they were sent", async () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter(isPlain);
  const value = fc.string({ unit: "grapheme", maxLength: 50 }).filter(isPlain);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(name, value), { maxLength: 10 }),
      fc.array(fc.tuple(name, fc.uint8Array({ maxLength: 200 })), { maxLength: 5 }),
      async (fields, files) => {
        const form = new FormData();
        for (const [key, text] of fields) form.append(key, text);
        for (const [key, bytes] of files) form.append(key, new File([bytes], "a.bin"));
        const result = await readMultipart(...(await sent(form)));
        expect(result.files.map(({ field: key, content }) => [key, [...content]])).toEqual(
          files.map(([key, bytes]) => [key, [...bytes]]),
        );
        const values = Object.entries(result.fields).flatMap(([key, each]) =>
          (Array.isArray(each) ? each : [each])
            .filter((item) => typeof item === "string")
            .map((item) => [key, item]),
        );
        expect(values.sort()).toEqual([...fields].sort());
      },
    ),
    { numRuns: 100 },
  );
});

/** Returns whether a form contains the text unchanged. Forms replace or escape some characters. */
function isPlain(text: string): boolean {
  return !/[\p{Cc}"%\\]/u.test(text) && text.isWellFormed();
}
