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
        ["photo", { name: "ä b.png", type: "image/png", size: 3, id: photo?.id }],
        ["__proto__", "own"],
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

test("files and texts of one field are read in the order in which they were sent", async () => {
  const form = new FormData();
  for (const [name, file] of [
    ["a", "0123456789".repeat(30_000)],
    ["b", ""],
  ] as const) {
    form.append("note", `before ${name}`);
    form.append("note", new File([file], name));
    form.append("note", `after ${name}`);
  }
  const { fields, files } = await readMultipart(...(await sent(form)));
  const reference = (at: number) => {
    const { id, name, media_type: mediaType, size } = files[at] ?? {};
    return { id, name, type: mediaType, size };
  };
  expect(files.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(fields).toEqual({
    note: ["before a", reference(0), "after a", "before b", reference(1), "after b"],
  });
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

test("a part has up to 20 headers of up to 8 KiB", async () => {
  const headers = `${"X-Header: x\r\n".repeat(18)}X: ${"x".repeat(7_800)}\r\n`;
  const { fields } = await read(part('name="a"', "1", headers) + end);
  expect(fields).toEqual({ a: "1" });
});

test.each([
  ['Multipart/Form-Data ; charset=utf-8; BOUNDARY="x-BOUNDARY"', "x-BOUNDARY"],
  ['multipart/form-data; boundary="a b:\\\\c\\"d"', 'a b:\\c"d'],
  ["multipart/form-data; boundary=a=b/c", "a=b/c"],
])("the boundary of %j is read", async (contentType, boundary) => {
  const text = (field("a", "1") + end).replaceAll("x-BOUNDARY", boundary);
  expect((await read(`a preamble\r\n${text}an epilogue`, contentType)).fields).toEqual({ a: "1" });
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

  const good = field("good", "1");
  const raw = (headers: string) => `--x-BOUNDARY\r\n${headers}`;
  test.each([
    ["no Content-Disposition", raw("Content-Type: text/plain\r\n\r\n1\r\n")],
    ["no headers", raw("\r\n1\r\n")],
    ["another disposition", raw('Content-Disposition: attachment; name="a"\r\n\r\n1\r\n')],
    ["a line break in its name", part("name*=UTF-8''a%0Ab", "1")],
    ["a line break in its file name", part("name=\"a\"; filename*=UTF-8''a%0D%0Ab", "1")],
  ])("a part with %s", async (_, bad) => {
    for (const form of [bad, good + bad, bad + good, good + bad + good]) {
      expect(await errorOf(form + end)).toMatch(/^1 of the [123] parts of the form cannot be read/);
    }
  });

  test.each([
    ["21 headers", part('name="a"', "1", "X-Header: x\r\n".repeat(20)), "more than 20 lines"],
    ["8 KiB of headers", part('name="a"', "1", `X: ${"x".repeat(8_192)}\r\n`), "within 8 KiB"],
    [
      "headers without an end",
      raw('Content-Disposition: form-data; name="a"\r\n'),
      "no empty line",
    ],
    ["nothing", raw(""), "no empty line"],
    ["a header without a colon", part('name="a"', "1", "nonsense\r\n"), 'not "Name: value"'],
    ["a line feed in a header", part('name="a"', "1", "X: a\nb\r\n"), 'not "Name: value"'],
    ["a longer delimiter", part('name="a"', "1").replace("Y\r", "Y-2\r"), 'not "Name: value"'],
  ])("a part with %s", async (_, bad, message) => {
    const error = await errorOf(good + bad + good + end);
    expect(error).toMatch(/[Pp]art 2 of the form/);
    expect(error).toContain(message);
  });

  test("a part in base64 or quoted-printable, also a file", async () => {
    for (const encoding of ["base64", "Quoted-Printable"]) {
      const header = `Content-Transfer-Encoding: ${encoding}\r\n`;
      for (const disposition of ['name="a"', 'name="a"; filename="a"']) {
        const error = await errorOf(good + part(disposition, "QQ==", header) + end);
        expect(error).toContain("Content-Transfer-Encoding other than 7bit, 8bit and binary");
      }
    }
    for (const encoding of ["7bit", "8bit", "BINARY "]) {
      const header = `Content-Transfer-Encoding: ${encoding}\r\n`;
      const { fields } = await read(part('name="a"', "QQ==", header) + end);
      expect(fields).toEqual({ a: "QQ==" });
    }
  });

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

  test("a boundary of more than 70 characters", async () => {
    const form = (boundary: string) =>
      readMultipart(
        Buffer.from(
          `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--${boundary}--`,
        ),
        `multipart/form-data; boundary=${boundary}`,
      );
    expect((await form("b".repeat(70))).fields).toEqual({ a: "1" });
    await expect(form("b".repeat(71))).rejects.toThrow("more than 70 characters");
  });

  test("a flood of headers in a part", async () => {
    const headers = "X-Header: x\r\n".repeat(100_000);
    expect(await errorOf(part('name="a"', "1", headers) + end)).toContain("within 8 KiB");
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
