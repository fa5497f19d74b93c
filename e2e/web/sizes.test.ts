import { expect, test } from "vitest";
import { measureSizes } from "../../bench/dashboard/sizes.ts";

test("the overview, forms, Markdown and every screen are within their sizes", () => {
  const tooLarge = measureSizes().filter(({ bytes, maxBytes }) => bytes > maxBytes);
  expect(tooLarge).toEqual([]);
});
