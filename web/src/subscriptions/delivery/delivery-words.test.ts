import { expect, test } from "vitest";
import { failedWords, whyNoBody, whyNotSent } from "./delivery-words.ts";

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

test("a failed delivery without an attempt was not sent", () => {
  expect(failedWords({ attempts: 0 })).toEqual({
    title: "It was not sent.",
    advice: "Replay sends it.",
  });
  expect(failedWords({ attempts: 1 }).title).toBe("All attempts failed.");
});
