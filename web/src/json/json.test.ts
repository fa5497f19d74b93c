import { describe, expect, test } from "vitest";
import { parseExactly, parseJson, WrittenNumber } from "./parse.ts";
import { ancestors, findInJson, openAtFirst, visibleRows } from "./rows.ts";

function parse(text: string) {
  const value = parseJson(text);
  if (value === undefined) throw new Error(`not JSON: ${text}`);
  return value;
}

describe("parsing", () => {
  test("numbers stay as they were written", () => {
    const text = '{"big":12345678901234567890,"exact":1.10,"power":1e3,"list":[-0]}';
    expect(JSON.stringify(parse(text))).toBe(text);
  });

  test("an integer that a number cannot represent keeps its digits, other numbers are numbers", () => {
    const text = '{"id":9007199254740993,"list":[-9007199254740993],"seq":1.5}';
    const value = parseExactly(text);
    expect(value).toMatchObject({ seq: 1.5 });
    expect(JSON.stringify(value)).toBe(text);
  });

  test("text that is not JSON is undefined", () => {
    expect(parseJson("{")).toBeUndefined();
    expect(parseJson("")).toBeUndefined();
  });

  test("a key named __proto__ is a key", () => {
    expect(JSON.stringify(parse('{"__proto__":{"a":1}}'))).toContain('"__proto__"');
  });
});

describe("rows", () => {
  const value = parse('{"order":{"id":4711,"lines":[{"sku":"a/b"}]},"note":null}');

  test("closed values show no children", () => {
    expect(visibleRows(value, new Set([""])).map((row) => row.pointer)).toEqual([
      "",
      "/order",
      "/note",
    ]);
  });

  test("open values show theirs, with depth and size", () => {
    const rows = visibleRows(value, new Set(["", "/order"]));
    expect(rows.map(({ name, depth, size }) => [name, depth, size])).toEqual([
      [undefined, 0, 2],
      ["order", 1, 2],
      ["id", 2, undefined],
      ["lines", 2, 1],
      ["note", 1, undefined],
    ]);
  });

  test("keys with slashes and tildes give valid pointers", () => {
    const rows = visibleRows(parse('{"a/b~c":1}'), new Set([""]));
    expect(rows[1]?.pointer).toBe("/a~1b~0c");
  });

  test("long arrays are closed at first, except as the root", () => {
    const long = JSON.stringify(Array.from({ length: 51 }, () => 0));
    expect([...openAtFirst(parse(`{"long":${long}}`), 3)]).toEqual([""]);
    expect([...openAtFirst(parse(long), 3)]).toEqual([""]);
  });

  test("finding looks at keys and values, without regard to case", () => {
    expect(findInJson(value, "47")).toEqual(["/order/id"]);
    expect(findInJson(value, "SKU")).toEqual(["/order/lines/0/sku"]);
    expect(findInJson(value, "a/b")).toEqual(["/order/lines/0/sku"]);
    expect(findInJson(value, "null")).toEqual(["/note"]);
    expect(findInJson(value, "")).toEqual([]);
  });

  test("the ancestors of a value lead to it from the root", () => {
    expect(ancestors("/order/lines/0")).toEqual(["", "/order", "/order/lines"]);
    expect(ancestors("")).toEqual([]);
  });

  test("a number parsed already is shown as it is", () => {
    expect(visibleRows({ id: 1 }, new Set([""]))[1]?.value).toBe(1);
    expect(new WrittenNumber("1.0").source).toBe("1.0");
  });
});
