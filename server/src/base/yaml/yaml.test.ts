import { syncBuiltinESMExports } from "node:module";
import workerThreads from "node:worker_threads";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { ApiError, type Result } from "../errors.ts";
import { readYaml, readYamlBody, YamlText, yamlItems } from "./index.ts";

const read = async (text: string) => {
  const found = await readYaml(text, "wsp_1");
  return found.mistake === undefined ? found.value : { mistake: found.mistake };
};

test("plain values become JSON values", async () => {
  const text =
    "a: 1\nb: [true, ~, 0x1F, -1.5e3]\nc: |\n  two\n  lines\n1: yes\ntime: 2020-01-01\n<<: {merged: no}\n";
  expect(await read(text)).toEqual({
    a: 1,
    b: [true, null, 31, -1500],
    c: "two\nlines\n",
    "1": "yes",
    time: "2020-01-01",
    "<<": { merged: "no" },
  });
});

test("JSON and an empty text are valid YAML", async () => {
  expect([
    await read('{"a":["\\u00e9",null]}'),
    await read(""),
    await read("# only words"),
  ]).toEqual([{ a: ["é", null] }, null, null]);
});

test("an alias has its anchor's value", async () => {
  expect(await read("a: &x {b: [1]}\nc: *x")).toEqual({ a: { b: [1] }, c: { b: [1] } });
});

test("a key like __proto__ is an ordinary key and changes no prototype", async () => {
  const value = (await read("__proto__: {isAdmin: true}\nconstructor: 1")) as object;
  expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
  expect([Object.getPrototypeOf(value), ({} as { isAdmin?: unknown }).isAdmin]).toEqual([
    Object.prototype,
    undefined,
  ]);
});

test.each([
  ["a duplicate key", "a:\n  b: 1\n  b: 2", /has a duplicate key in an object at line 3, column 3/],
  ["a function", "a: !!js/function 'function () {}'", /has a tag/],
  ["a tag of Python", "!!python/object/apply:os.system ['id']", /has a tag/],
  ["a tag of its own", "a: !env SECRET", /has a tag/],
  ["bytes", "a: !!binary aGk=", /has a tag/],
  ["a tag under another name", "%TAG ! tag:example.com,2026:\n---\na: !x 1", /has a tag/],
  ["an older version", "%YAML 1.1\n---\na: !!set {x}", /has a tag/],
  ["several documents", "a: 1\n---\nb: 2", /several documents/],
  ["a list as a key", "? [a]\n: 1", /a key that is not a string/],
  ["an alias without anchor", "a: *x", /without an anchor/],
  ["an alias inside itself", "a: &x [*x]", /alias/],
  ["infinity", "a: .inf", /\.inf/],
  ["no number", "a: .NaN", /\.nan/],
  ["an open quote", "a: 'x", /is not valid YAML at line 1/],
  ["no YAML", "a: b: c", /is not valid YAML at line 1/],
  [
    "aliases that multiply",
    `a: &a [x,x,x,x,x]\nb: &b [${"*a,".repeat(40)}]\nc: &c [${"*b,".repeat(40)}]\nd: [${"*c,".repeat(40)}]`,
    /alias/,
  ],
  [
    "aliases of a long text",
    `a: &a "${"x".repeat(100_000)}"\nb: [${"*a,".repeat(90)}]`,
    /is too large after its aliases are expanded/,
  ],
  ["levels without end", "[".repeat(100_000), /./],
])("%s is rejected with the position or the reason", async (_what, text, why) => {
  expect(await read(text)).toEqual({ mistake: expect.stringMatching(why) });
});

test("documents are parsed again after threads could not be created", async () => {
  const replaced = vi.spyOn(workerThreads, "Worker").mockImplementation(
    class {
      constructor() {
        throw new Error("the system cannot create a thread");
      }
    } as never,
  );
  syncBuiltinESMExports();
  const failed = await Promise.allSettled(["a: 1", "a: 2"].map((text) => readYaml(text, "wsp_1")));
  replaced.mockRestore();
  syncBuiltinESMExports();
  expect(failed).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  expect(await read("a: 3")).toEqual({ a: 3 });
});

test("no error repeats the text", async () => {
  for (const text of [
    "password: !x hunter2",
    "hunter2: 1\nhunter2: 2",
    "a: 'hunter2",
    "*hunter2",
  ]) {
    expect(JSON.stringify(await read(text))).not.toContain("hunter2");
  }
});

describe("a body", () => {
  const inYaml = (text: string, owner = "wsp_1") =>
    readYamlBody({ ok: true, value: new YamlText(text) }, owner);

  test("that is not YAML is returned unchanged", async () => {
    const bodies: Result<unknown>[] = [
      { ok: true, value: { a: 1 } },
      { ok: true, value: undefined },
      { ok: false, error: new ApiError("too_large", "x") },
    ];
    for (const body of bodies) expect(await readYamlBody(body, "wsp_1")).toBe(body);
  });

  test("of invalid YAML becomes an error", async () => {
    const body = await inYaml("a: 'x");
    expect(body).toEqual({ ok: false, error: expect.any(ApiError) });
    expect(body).toMatchObject({
      error: {
        code: "bad_request",
        message: expect.stringMatching(/^The body is not valid YAML at line 1, column \d+\. /),
      },
    });
  });

  test("waits while others are parsed", async () => {
    const texts = ["a: 1", "a: 2", "a: 3", "a: 4"];
    expect(await Promise.all(texts.map((text) => inYaml(text)))).toMatchObject(
      texts.map((_, index) => ({ ok: true, value: { a: index + 1 } })),
    );
  });

  test("does not wait for those of another workspace, and not forever for those of its own", async () => {
    // The parser compares each key with all others. It is stopped after 5 seconds.
    const keys = Array.from({ length: 100_000 }, (_, index) => `k${index}: 1\n`);
    const slow = inYaml(keys.join(""), "wsp_busy");
    const waits = [inYaml("a: 1", "wsp_busy"), inYaml("a: 2", "wsp_busy")];
    const first = Promise.race([slow, ...waits, inYaml("a: 3", "wsp_other")]);
    expect(await first).toEqual({ ok: true, value: { a: 3 } });
    const rejected = { ok: false, error: { code: "unavailable", retryAfter: 5 } };
    expect(await Promise.all(waits)).toMatchObject([rejected, rejected]);
    expect(await slow).toMatchObject({ ok: false, error: { code: "bad_request" } });
  });
});

test("every short text of blanks, line breaks and a letter survives a round trip", async () => {
  const longer = (texts: readonly string[]) =>
    texts.flatMap((text) => [..." \t\n\ra"].map((character) => text + character));
  const texts = [[""]];
  while (texts.length <= 5) texts.push(longer(texts.at(-1) ?? []));
  const items = [...texts.flat(), ...texts.flat().map((text) => ({ named: text }))];
  expect(await read(yamlItems(items))).toEqual(items);
});

test("written values survive a round trip, also in several lists", async () => {
  const awkward = fc.string({
    unit: fc.constantFrom(
      ..."\n\r\t #:-'\"\\|>!&*%@`{}[]?,~019.eEyn\u0001\u007f\u0085\u00a0\u2028\ufeff\ud83d",
      "---",
      "...",
      "👋",
    ),
  });
  const text = fc
    .oneof(awkward, fc.string({ unit: "binary" }))
    .map((value) => value.toWellFormed());
  const values = fc.dictionary(text, fc.oneof(text, fc.jsonValue()), { noNullPrototype: true });
  // Each parse starts a worker thread, which is slow, so many texts go into one document.
  const lists = fc
    .sample(fc.array(values, { maxLength: 4 }), 400)
    .map((list) => JSON.parse(JSON.stringify(list)) as unknown[]);
  const pieces = lists.flat().map((value) => yamlItems([value]));
  expect(await read(`- 1\n${pieces.join("")}`)).toEqual([1, ...lists.flat()]);
});
