import type { Delivery, Subscription } from "@beckon/client";
import { expect, test } from "vitest";
import {
  attemptState,
  failedText,
  healthOf,
  nameOf,
  pendingText,
  pollMs,
  whyDisabled,
  whyNeverReplayed,
  whyNotReplayed,
  whyNotSentAgain,
} from "./health.ts";

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
const now = Date.parse(at);
const inSeconds = (seconds: number) => new Date(now + seconds * 1_000).toISOString();

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

test("what is attempted soon is read again soon, also an attempt in progress", () => {
  expect(pollMs([null], now)).toBe(false);
  expect(pollMs([], now)).toBe(false);
  expect(pollMs([inSeconds(-3)], now)).toBe(2_000);
  expect(pollMs([inSeconds(45)], now)).toBe(2_000);
  expect(pollMs([inSeconds(179)], now)).toBe(2_000);
  expect(pollMs([inSeconds(300)], now)).toBe(15_000);
  expect(pollMs([inSeconds(300), null, inSeconds(5)], now)).toBe(2_000);
});

test.each([
  ["in 5 minutes has not begun", 300, "scheduled"],
  ["in less than 3 minutes can be in progress", 179, "near"],
  ["in the past can have begun", -3, "due"],
])("an attempt whose time is %s", (_, seconds, state) => {
  expect(attemptState(inSeconds(seconds), now)).toBe(state);
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

test("a subscription without a description has its URL as its name", () => {
  const url = "https://example.com/beckon/";
  expect(nameOf({ description: " ", url })).toBe("example.com/beckon");
  expect(nameOf({ description: "Shop", url })).toBe("Shop");
});

test("deliveries of enabled subscriptions are replayed, unless they are being sent or wait", () => {
  const url = "https://example.com/beckon";
  const enabled = { status: "enabled", url } as const;
  const paused = { status: "paused", url } as const;
  expect(whyNotReplayed(enabled)).toBeUndefined();
  expect(whyNotReplayed(paused)).toContain("Resume it first");
  const why = (
    status: Delivery["status"],
    last_error: string | null,
    next_attempt_at: string | null,
    subscription: Pick<Subscription, "status" | "url"> = enabled,
  ) =>
    whyNotSentAgain(
      subscription,
      { kind: "event", status, url, last_error, next_attempt_at },
      { nowMs: now, timeZone: "UTC" },
    );
  expect(why("failed", "Status 500.", null)).toBeUndefined();
  expect(why("failed", "Status 500.", null, paused)).toContain("Resume it first");
  expect(why("pending", "Status 500.", inSeconds(300))).toBeUndefined();
  expect(why("pending", null, inSeconds(45))).toContain("already");
  expect(why("pending", null, inSeconds(82_900))).toContain(
    "waits for its first attempt, in 23 h.",
  );
});

test("a delivery whose run was deleted, or a callback to another server, is never replayed", () => {
  const subscription = { status: "paused", url: "https://example.com/beckon" } as const;
  const why = (kind: Delivery["kind"], status: Delivery["status"], url: string) => {
    const delivery = { kind, status, url, last_error: null, next_attempt_at: null };
    const never = whyNeverReplayed(subscription, delivery);
    // Resuming the subscription does not help, so the action gives the same reason.
    if (never !== undefined)
      expect(whyNotSentAgain(subscription, delivery, { nowMs: now, timeZone: "UTC" })).toBe(never);
    return never;
  };
  expect(why("event", "cancelled", "https://example.com/beckon")).toContain("run was deleted");
  expect(why("callback", "failed", "https://example.com:8443/done")).toContain("another server");
  expect(why("callback", "not_sent", "http://example.com/done")).toContain("another server");
  expect(why("callback", "failed", "https://example.com:443/done")).toBeUndefined();
  // The URL of a subscription can change; its deliveries go to the new one.
  expect(why("event", "failed", "https://old.example.com/beckon")).toBeUndefined();
});
