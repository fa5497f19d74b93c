import { expect, test } from "vitest";
import { changesForReading } from "./changes-for-reading.ts";

test("instructions come first, and a replaced tool is one change", () => {
  const changes = [
    { path: "/tools/0/type", before: "clock", after: "http" },
    { path: "/tools/0/name", after: "orders" },
    { path: "/model", before: "a/b", after: "a/c" },
    { path: "/tools/1/name", before: "x", after: "y" },
    { path: "/instructions", before: "", after: "Be brief." },
  ];
  expect(changesForReading(changes)).toEqual([
    changes[4],
    changes[2],
    changes[3],
    { path: "/tools/0", before: { type: "clock" }, after: { type: "http", name: "orders" } },
  ]);
});
