import * as contract from "@beckon/contract";
import { expect, test } from "vitest";
import { expiryOf, remaining } from "./expiry.ts";
import { isOfWorkspace, presetOf, presets, scopeGroups, scopes, scopesOfPreset } from "./scopes.ts";

test("scopes and presets are those of the contract", () => {
  expect(scopes).toEqual(contract.scopes);
  expect(presets).toEqual(contract.presets);
  expect(scopes.filter(isOfWorkspace)).toEqual(contract.workspaceScopes);
  expect(scopeGroups.flatMap((group) => group.scopes)).toEqual(scopes);
});

test("a preset is recognised by its scopes, in any order", () => {
  expect(presetOf(["agents:invoke"], false)).toBe("invoke");
  expect(presetOf(contract.presets.operator.toReversed(), false)).toBe("operator");
  expect(presetOf(["runs:read"], false)).toBeUndefined();
  expect(presetOf(["runs:read", "of a later version"], false)).toBeUndefined();
});

test("a limited key has a preset without the scopes of the whole workspace", () => {
  const limited = ["agents:read", "triggers:read", "runs:read", "subscriptions:read", "usage:read"];
  expect(scopesOfPreset("observer", true)).toEqual(limited);
  expect(presetOf(limited, true)).toBe("observer");
  expect(presetOf(limited, false)).toBeUndefined();
});

test.each([
  [null, "never"],
  ["2026-03-01T00:00:00Z", "later"],
  ["2026-01-14T23:59:59Z", "soon"],
  ["2026-01-01T00:00:00Z", "expired"],
] as const)("on 1 January 2026, an expiry at %s counts as %s", (expiresAt, expected) => {
  expect(expiryOf(expiresAt, Date.parse("2026-01-01T00:00:00Z"))).toBe(expected);
});

test.each([
  ["2026-01-01T23:00:00Z", "less than a day"],
  ["2026-01-02T01:00:00Z", "1 day"],
  ["2026-01-13T01:00:00Z", "12 days"],
])("on 1 January 2026, %s is in %s", (expiresAt, expected) => {
  expect(remaining(expiresAt, Date.parse("2026-01-01T00:00:00Z"))).toBe(expected);
});
