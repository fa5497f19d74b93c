import fc from "fast-check";
import { expect, test } from "vitest";
import { type Difference, differences } from "./differences.ts";

test.each<[unknown, unknown, Difference[]]>([
  [{ a: 1 }, { a: 1 }, []],
  [1, 2, [{ path: "", before: 1, after: 2 }]],
  [{ a: null }, {}, [{ path: "/a", before: null }]],
  [{}, { a: null }, [{ path: "/a", after: null }]],
  [{ a: { b: [1, 2] } }, { a: { b: [1] } }, [{ path: "/a/b/1", before: 2 }]],
  [{ a: {} }, { a: [] }, [{ path: "/a", before: {}, after: [] }]],
  [{ "a/b": { "~": 1 } }, { "a/b": { "~": 2 } }, [{ path: "/a~1b/~0", before: 1, after: 2 }]],
  [{ "": 1 }, { "": 2 }, [{ path: "/", before: 1, after: 2 }]],
])("between %j and %j", (before, after, expected) => {
  expect(differences(before, after)).toEqual(expected);
});

const [crm, shop, mail, erp] = ["crm", "shop", "mail", "erp"].map((name) => ({ name, n: 1 }));
const clock = { type: "clock" };
const other = { type: "http", name: "clock" };

test.each<[string, unknown[], unknown[], Difference[]]>([
  ["removed", [crm, shop, mail], [shop, mail], [{ path: "/tools/0", before: crm }]],
  ["added", [shop, mail], [crm, shop, mail], [{ path: "/tools/0", after: crm }]],
  [
    "changed after one was removed",
    [crm, shop],
    [{ ...shop, n: 2 }],
    [
      { path: "/tools/0/n", before: 1, after: 2 },
      { path: "/tools/0", before: crm },
    ],
  ],
  ["added beside the clock", [clock, shop], [crm, clock, shop], [{ path: "/tools/0", after: crm }]],
  [
    "removed beside a tool with its name",
    [clock, other],
    [other],
    [{ path: "/tools/0", before: clock }],
  ],
  ["renamed", [crm, shop], [erp, shop], [{ path: "/tools/0/name", before: "crm", after: "erp" }]],
  [
    "moved",
    [crm, shop],
    [shop, crm],
    [
      { path: "/tools/0/name", before: "crm", after: "shop" },
      { path: "/tools/1/name", before: "shop", after: "crm" },
    ],
  ],
])("a tool that was %s differs, and no other", (_what, before, after, expected) => {
  expect(differences({ tools: before }, { tools: after })).toEqual(expected);
});

test("functions of a tool are compared by name too", () => {
  const tool = (...operations: unknown[]) => ({ tools: [{ name: "shop", operations }] });
  expect(differences(tool(crm, shop), tool(shop))).toEqual([
    { path: "/tools/0/operations/0", before: crm },
  ]);
});

test("returned locations differ, none contains another, and only equal values have none", () => {
  const at = (value: unknown, path: string): unknown =>
    path
      .split("/")
      .slice(1)
      .reduce(
        (inner, step) => ownField(inner, step.replaceAll("~1", "/").replaceAll("~0", "~")),
        value,
      );
  const json = fc
    .jsonValue({ maxDepth: 3 })
    .map((value) => JSON.parse(JSON.stringify(value).replaceAll("__proto__", "proto")) as unknown);
  fc.assert(
    fc.property(json, json, (before, after) => {
      const found = differences(before, after);
      expect(found.length === 0).toBe(
        JSON.stringify(sorted(before)) === JSON.stringify(sorted(after)),
      );
      for (const { path, before: was, after: is } of found) {
        expect([at(before, path), at(after, path)]).toEqual([was, is]);
        expect(was).not.toEqual(is);
        expect(
          found.filter((other) => other.path === path || other.path.startsWith(`${path}/`)),
        ).toHaveLength(1);
      }
    }),
  );
});

function ownField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** Returns the value with sorted fields, since their order has no meaning in JSON. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
