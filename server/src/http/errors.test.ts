import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { reservedRunErrorCodes, runErrorCode, scopes } from "@beckon/contract";
import { expect, test } from "vitest";
import { apiErrors } from "./errors.ts";

const root = join(import.meta.dirname, "..");

/** The server's source files, without the examples of its documentation. */
const sources = globSync("**/*.ts", { cwd: root })
  .filter((file) => !/\.test\.ts$|^http\/openapi\//.test(file))
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n");

/** As a string. Tables with an entry for each code write it as a property name. */
const isUsed = (value: string) =>
  ["'", '"', "`"].some((quote) => sources.includes(`${quote}${value}${quote}`));

test("the server uses every error code of the contract except the reserved ones", () => {
  const codes = [...Object.keys(apiErrors), ...runErrorCode.options];
  expect(codes.filter((code) => !isUsed(code))).toEqual([...reservedRunErrorCodes]);
});

test("the server uses every scope of the contract", () => {
  expect(scopes.filter((scope) => !isUsed(scope))).toEqual([]);
});
