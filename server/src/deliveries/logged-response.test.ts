import { expect, test } from "vitest";
import { scrubberOf } from "./logged-response.ts";

test("a signing secret is removed with and without its prefix", () => {
  const encoded = Buffer.from("the 32 bytes of a signing secret").toString("base64");
  const { text } = scrubberOf([`whsec_${encoded}`], {});
  expect(text(`whsec_${encoded} or ${encoded}`)).toBe("[secret] or [secret]");
});

test("a scrubber that is used often stays cached while many others are made", () => {
  const busy = scrubberOf(["the secret of a busy subscription"], {});
  const others = Array.from({ length: 2_000 }, (_, index) => `another secret ${index}`);
  const used = others.map((secret) => {
    scrubberOf([secret], {});
    return scrubberOf(["the secret of a busy subscription"], {});
  });
  expect(new Set(used)).toEqual(new Set([busy]));
});
