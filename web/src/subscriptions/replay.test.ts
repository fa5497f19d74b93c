import type { BeckonClient, ReplayDeliveriesBody } from "@beckon/client";
import { expect, test } from "vitest";
import { replayRange } from "./replay.ts";

type Sent = readonly [ReplayDeliveriesBody, string | undefined];

/**
 * Returns a client that replays one delivery per request. Each response except the last says that
 * there are more deliveries.
 */
function clientWith(nextUntils: readonly (string | null)[]) {
  const sent: Sent[] = [];
  const left = [...nextUntils];
  const client = {
    subscriptions: {
      replayDeliveries: async (
        _: string,
        body: ReplayDeliveriesBody,
        options?: { idempotencyKey?: string },
      ) => {
        sent.push([body, options?.idempotencyKey]);
        const next = left.shift() ?? null;
        return { replayed: 1, more: next !== null, next_until: next };
      },
    },
  } as unknown as Pick<BeckonClient, "subscriptions">;
  return { client, sent };
}

const range = { since: "2026-11-03T00:00:00.000Z", which: "all" } as const;

test("each request of a replay has the key of its part, so that a repeat replays nothing twice", async () => {
  const { client, sent } = clientWith(["2026-11-04T00:00:00.000Z", null]);
  const { signal } = new AbortController();
  const progress: number[] = [];
  const onProgress = (replayed: number) => progress.push(replayed);
  expect(await replayRange(client, "sub_1", range, { key: "k", onProgress, signal })).toBe(2);
  expect(progress).toEqual([1, 2]);
  expect(sent).toEqual([
    [range, "k 0"],
    [{ ...range, until: "2026-11-04T00:00:00.000Z" }, "k 1"],
  ]);
});

test("a cancelled replay sends no further request", async () => {
  const { client, sent } = clientWith(["2026-11-04T00:00:00.000Z", "2026-11-03T12:00:00.000Z"]);
  const stop = new AbortController();
  const onProgress = () => stop.abort();
  const control = { key: "k", onProgress, signal: stop.signal };
  expect(await replayRange(client, "sub_1", range, control)).toBe(1);
  expect(sent).toHaveLength(1);
});

test("a replay ends only when the server has no more deliveries", async () => {
  const start = Date.parse("2026-11-04T00:00:00.000Z");
  const untils = Array.from({ length: 300 }, (_, index) => new Date(start - index).toISOString());
  const { client, sent } = clientWith(untils);
  const control = { key: "k", onProgress: () => {}, signal: new AbortController().signal };
  expect(await replayRange(client, "sub_1", range, control)).toBe(301);
  expect(sent).toHaveLength(301);
});
