import { expect, test } from "vitest";
import { editDistance } from "./edit-distance.ts";

test.each([
  ["", "", 0],
  ["", "abc", 3],
  ["abc", "", 3],
  ["BECKON_ROLE", "BECKON_ROLE", 0],
  ["BECKON_ROL", "BECKON_ROLE", 1],
  ["BECKON_ROLES", "BECKON_ROLE", 1],
  ["BECKON_ROLF", "BECKON_ROLE", 1],
  ["BECKON_RLOE", "BECKON_ROLE", 1],
  ["BECKON_RLO", "BECKON_ROLE", 2],
  ["kitten", "sitting", 3],
])("from %j to %j it is %i, and the same the other way round", (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance);
  expect(editDistance(to, from)).toBe(distance);
});
