import { expect, test } from "vitest";
import { listed } from "./filter-options.tsx";

const options = Array.from({ length: 250 }, (_, index) => ({ value: `usr_${index}` }));

test("of many options, those that were chosen and others are listed, up to 100", () => {
  const shown = listed(options, new Set(["usr_240", "usr_249"]));
  expect(shown.slice(0, 3).map(({ value }) => value)).toEqual(["usr_240", "usr_249", "usr_0"]);
  expect(shown).toHaveLength(100);
});

test("up to 100 options are all listed in their order", () => {
  expect(listed(options.slice(0, 100), new Set(["usr_99"]))).toEqual(options.slice(0, 100));
});
