import { expect, test } from "vitest";
import { ApiError } from "../errors.ts";
import { databaseUnavailable, outageOf } from "./in-workspace.ts";

const lost = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
const deadlock = Object.assign(new Error("deadlock detected"), { code: "40P01" });

test("the outage of a background task is the error of the database, also within an ApiError", () => {
  expect(outageOf(lost)).toBe(lost);
  expect(outageOf(databaseUnavailable(lost))).toBe(lost);
});

test.each([
  ["a deadlock", deadlock],
  ["a deadlock within the error of a caller", databaseUnavailable(deadlock)],
  ["a defect", new TypeError("x is not a function")],
  ["an error of a caller", new ApiError("bad_request", "name: missing", { cause: lost })],
  ["a rejection for lack of memory", new ApiError("unavailable", "Try again.")],
])("%s is no outage", (_what, thrown) => {
  expect(outageOf(thrown)).toBeUndefined();
});
