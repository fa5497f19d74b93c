import { expect, test } from "vitest";
import { nameOf } from "./name.ts";

test("a subscription without a description has its URL as its name", () => {
  const url = "https://example.com/beckon/";
  expect(nameOf({ description: " ", url })).toBe("example.com/beckon");
  expect(nameOf({ description: "Shop", url })).toBe("Shop");
});
