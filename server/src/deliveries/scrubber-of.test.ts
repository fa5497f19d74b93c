import { expect, test } from "vitest";
import { scrubberOf } from "./scrubber-of.ts";

test("a scrubber that is used often stays cached while many others are made", () => {
  const busy = scrubberOf(["the secret of a busy subscription"], {});
  const others = Array.from({ length: 2_000 }, (_, index) => `another secret ${index}`);
  const used = others.map((secret) => {
    scrubberOf([secret], {});
    return scrubberOf(["the secret of a busy subscription"], {});
  });
  expect(new Set(used)).toEqual(new Set([busy]));
});
