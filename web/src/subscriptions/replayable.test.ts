import type { Delivery, Subscription } from "@beckon/client";
import { expect, test } from "vitest";
import { whyNeverReplayed, whyNoReplay, whyNotReplayed } from "./replayable.ts";

const now = Date.parse("2026-11-03T12:00:00.000Z");
const inSeconds = (seconds: number) => new Date(now + seconds * 1_000).toISOString();

test("deliveries of enabled subscriptions are replayed, unless they are being sent or wait", () => {
  const url = "https://example.com/beckon";
  const enabled = { status: "enabled", url } as const;
  const paused = { status: "paused", url } as const;
  expect(whyNoReplay(enabled)).toBeUndefined();
  expect(whyNoReplay(paused)).toContain("Resume it first");
  const why = (
    status: Delivery["status"],
    last_error: string | null,
    next_attempt_at: string | null,
    subscription: Pick<Subscription, "status" | "url"> = enabled,
  ) =>
    whyNotReplayed(
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
      expect(whyNotReplayed(subscription, delivery, { nowMs: now, timeZone: "UTC" })).toBe(never);
    return never;
  };
  expect(why("event", "cancelled", "https://example.com/beckon")).toContain("run was deleted");
  expect(why("callback", "failed", "https://example.com:8443/done")).toContain("another server");
  expect(why("callback", "not_sent", "http://example.com/done")).toContain("another server");
  expect(why("callback", "failed", "https://example.com:443/done")).toBeUndefined();
  // The URL of a subscription can change; its deliveries go to the new one.
  expect(why("event", "failed", "https://old.example.com/beckon")).toBeUndefined();
});
