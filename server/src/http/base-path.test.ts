import { expect, test } from "vitest";
import { basePathOf } from "./base-path.ts";

test.each([
  ["http://127.0.0.1:3000", ""],
  ["https://example.com/", ""],
  ["https://example.com/beckon", "/beckon"],
])("the path of %s is %j", (url, path) => {
  expect(basePathOf({ publicUrl: () => url })).toBe(path);
});
