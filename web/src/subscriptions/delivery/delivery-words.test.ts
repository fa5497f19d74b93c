import { expect, test } from "vitest";
import { adviceFor, whyNoBody, whyNotSent } from "./delivery-words.ts";

test("only a delivery that a restore closed was not sent because of the restore", () => {
  expect(whyNotSent({ last_error: "Beckon was restored from a backup." })).toContain("restored");
  expect(whyNotSent({ last_error: null })).toContain("paused or disabled.");
  expect(whyNotSent({ last_error: "The receiver responded with status 500." })).toMatch(
    /paused or disabled\. .*failed: The receiver responded with status 500\.$/,
  );
});

test("a delivery about an agent that a limited key cannot see was not sent because of that key", () => {
  const error = "A key that is limited to other agents has changed the subscription.";
  expect(whyNotSent({ last_error: error })).toMatch(/because a key that is limited/);
});

test("a body that is missing is not said to be deleted if it was sent without data", () => {
  expect(whyNoBody({ status: "succeeded" })).toContain("sent without data");
  expect(whyNoBody({ status: "not_sent" })).toContain("unless its run was deleted");
});

const url = "https://example.com/events";
const event = { kind: "event", url } as const;

test("the receiver is to be corrected only if an attempt failed", () => {
  const advice = (status: "failed" | "not_sent", attempts: number) =>
    adviceFor({ status: "enabled", url }, { ...event, status, attempts });
  expect(advice("failed", 3)).toBe("Correct the receiver, then replay the delivery.");
  expect(advice("failed", 0)).toBe("Replay sends it.");
  expect(advice("not_sent", 1)).toBe("Replay sends it.");
});

test.each(["paused", "disabled"] as const)(
  "deliveries of a %s subscription need it to be resumed before they are replayed",
  (status) => {
    for (const delivery of [
      { status: "failed", attempts: 0 },
      { status: "failed", attempts: 3 },
      { status: "not_sent", attempts: 0 },
    ] as const)
      expect(adviceFor({ status, url }, { ...event, ...delivery })).toBe(
        "Resume the subscription, then replay it.",
      );
  },
);

test("no replay is advised if it is impossible, whatever the state of the subscription", () => {
  const cancelled = { ...event, status: "cancelled", attempts: 1 } as const;
  const elsewhere = { kind: "callback", url: "https://other.example.com/", attempts: 0 } as const;
  for (const status of ["enabled", "paused"] as const) {
    expect(adviceFor({ status, url }, cancelled)).toContain("Its run was deleted");
    expect(adviceFor({ status, url }, { ...elsewhere, status: "not_sent" })).toContain(
      "cannot be replayed",
    );
  }
});
