import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { statementsText } from "./all-statements.ts";

test("statements.sql is up to date; script/statements.ts updates it", () => {
  expect(readFileSync(new URL("./statements.sql", import.meta.url), "utf8")).toBe(statementsText());
});
