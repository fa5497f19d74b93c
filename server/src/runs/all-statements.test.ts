import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { statementsText } from "./all-statements.ts";

test("statements.sql holds every statement as it is sent; script/statements.ts renews it", () => {
  expect(readFileSync(new URL("./statements.sql", import.meta.url), "utf8")).toBe(statementsText());
});
