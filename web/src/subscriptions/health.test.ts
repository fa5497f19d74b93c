import type { Subscription } from "@beckon/client";
import { expect, test } from "vitest";
import { failedText, healthOf, pendingText, whyDisabled } from "./health.ts";

const health: Subscription["health"] = {
  last_success_at: null,
  last_failure_at: null,
  failing_since: null,
  last_error: null,
  pending: 0,
  next_attempt_at: null,
  failed: 0,
};
const at = "2026-11-03T12:00:00.000Z";

test.each([
  ["enabled", {}, "unused"],
  ["enabled", { last_success_at: at }, "working"],
  ["enabled", { last_success_at: at, failing_since: at }, "failing"],
  ["paused", { failing_since: at }, "paused"],
  ["disabled", { failing_since: at }, "disabled"],
] as const)("a subscription that is %s with %j is %s", (status, known, expected) => {
  expect(healthOf({ status, health: { ...health, ...known } })).toBe(expected);
});

test("the reason of a later version is shown as it is", () => {
  const why = (disabled_reason: string | null) => whyDisabled({ disabled_reason } as Subscription);
  expect(why("gone")).toContain("410");
  expect(why("of a later version")).toBe("because of a later version");
  expect(why("toString")).toBe("because toString");
  expect(why(null)).toBe("for an unknown reason");
});

test("counts end where the API stops counting", () => {
  expect([pendingText({ ...health, pending: 100_000 }), failedText(health)]).toEqual([
    "100,000",
    "0",
  ]);
  expect([
    pendingText({ ...health, pending: 100_001 }),
    failedText({ ...health, failed: 10_000 }),
  ]).toEqual(["100,000+", "10,000+"]);
});
