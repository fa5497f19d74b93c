import { expect, test } from "vitest";
import { statusOf } from "./status.ts";

const openedAt = 1_000_000;
const after = (ms: number, lastByteAt: number | undefined = openedAt) =>
  statusOf({ openedAt, lastByteAt }, openedAt + ms).state;

test("a stream is live while bytes come", () => {
  expect([after(0), after(19_999)]).toEqual(["live", "live"]);
});

test("after 20 seconds without a byte it is reconnecting, after 45 seconds not live", () => {
  expect([after(20_000), after(44_999), after(45_000)]).toEqual([
    "reconnecting",
    "reconnecting",
    "not live",
  ]);
});

test("before the first byte it is connecting, and then as late as a silent stream", () => {
  const before = (ms: number) => statusOf({ openedAt, lastByteAt: undefined }, openedAt + ms).state;
  expect([before(0), before(20_000), before(45_000)]).toEqual([
    "connecting",
    "reconnecting",
    "not live",
  ]);
});

test("a stream that was opened again is reconnecting until its first byte, for 45 seconds", () => {
  const reopened = (ms: number) =>
    statusOf({ openedAt, lastByteAt: openedAt - 60_000 }, openedAt + ms);
  expect(reopened(0)).toEqual({ state: "reconnecting", asOf: openedAt - 60_000 });
  expect([reopened(44_999).state, reopened(45_000).state]).toEqual(["reconnecting", "not live"]);
});

test("a closed connection is reconnecting at once, and not live after 45 seconds of silence", () => {
  const closed = (ms: number) =>
    statusOf({ openedAt, lastByteAt: openedAt, isLost: true }, openedAt + ms).state;
  expect([closed(0), closed(44_999), closed(45_000)]).toEqual([
    "reconnecting",
    "reconnecting",
    "not live",
  ]);
});

test("a rejected stream is not live at once, and says why and since when", () => {
  const ended = { reason: "The agent was deleted." };
  expect(statusOf({ openedAt, lastByteAt: openedAt, ended }, openedAt + 1)).toEqual({
    state: "not live",
    asOf: openedAt,
    reason: "The agent was deleted.",
  });
});
