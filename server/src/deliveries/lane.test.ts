import { expect, onTestFinished, test, vi } from "vitest";
import { claimedDelivery as delivery } from "../../test/claimed-delivery.ts";
import { elapsed } from "../base/clock.ts";
import { Lane } from "./lane.ts";

test.each([
  { kind: "event", is_failing: false, isFailing: true },
  { kind: "callback", is_failing: false, isFailing: false },
  { kind: "callback", is_failing: true, isFailing: true },
] as const)(
  "after a failed $kind, a subscription for which is_failing was $is_failing counts as failing: $isFailing",
  async ({ kind, is_failing, isFailing }) => {
    const lane = new Lane({
      subscriptionId: "sub_1",
      kind,
      maxConcurrent: 1,
      maxWaitMs: 1_000,
      send: async () => "failed",
      release: () => {},
    });
    lane.add({ ...delivery, kind, is_failing }, elapsed());
    await lane.idle();
    expect(lane.isFailing).toBe(isFailing);
  },
);

test("a delivery that was released says nothing about the receiver, and the next one is sent", async () => {
  const sent: string[] = [];
  const lane = new Lane({
    subscriptionId: "sub_1",
    kind: "event",
    maxConcurrent: 1,
    maxWaitMs: 1_000,
    send: async ({ id }) => {
      sent.push(id);
      return "released";
    },
    release: () => {},
  });
  for (const id of ["dlv_1", "dlv_2"])
    lane.add({ ...delivery, id, kind: "event", is_failing: false }, elapsed());
  await lane.idle();
  expect({ sent, isFailing: lane.isFailing }).toEqual({
    sent: ["dlv_1", "dlv_2"],
    isFailing: false,
  });
});

test.each([
  { outcome: "succeeded", sent: ["dlv_1", "dlv_2", "dlv_3"], released: [] },
  { outcome: "retry", sent: ["dlv_1"], released: ["dlv_2", "dlv_3"] },
  { outcome: "failed", sent: ["dlv_1"], released: ["dlv_2", "dlv_3"] },
] as const)(
  "after the outcome $outcome, of the deliveries that wait $released.length are released",
  async ({ outcome, ...expected }) => {
    const sent: string[] = [];
    const released: string[] = [];
    const lane = new Lane({
      subscriptionId: "sub_1",
      kind: "event",
      maxConcurrent: 1,
      maxWaitMs: 1_000,
      send: async ({ id }) => {
        sent.push(id);
        return outcome;
      },
      release: ({ id }) => released.push(id),
    });
    for (const id of ["dlv_1", "dlv_2", "dlv_3"]) lane.add({ ...delivery, id }, elapsed());
    for (let sends = 0; sends < 3; sends++) await lane.idle();
    expect({ sent, released }).toEqual(expected);
  },
);

test("a delivery whose claim was read so late that its lease may have expired is not sent", async () => {
  const sent: string[] = [];
  const released: string[] = [];
  const lane = new Lane({
    subscriptionId: "sub_1",
    kind: "event",
    maxConcurrent: 2,
    maxWaitMs: 60_000,
    send: async ({ id }) => {
      sent.push(id);
      return "succeeded";
    },
    release: ({ id }) => released.push(id),
  });
  lane.add({ ...delivery, id: "dlv_1" }, elapsed() - 61_000);
  lane.add({ ...delivery, id: "dlv_2" }, elapsed() - 30_000);
  await lane.idle();
  expect({ sent, released }).toEqual({ sent: ["dlv_2"], released: ["dlv_1"] });
});

test("a delivery that has waited for more than a second is sent without the data of its claim", async () => {
  const sent: (string | null)[] = [];
  const lane = new Lane({
    subscriptionId: "sub_1",
    kind: "event",
    maxConcurrent: 2,
    maxWaitMs: 60_000,
    send: async ({ data }) => {
      sent.push(data);
      return "succeeded";
    },
    release: () => {},
  });
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  for (const ageMs of [1_000, 1_001]) lane.add(delivery, elapsed() - ageMs);
  await lane.idle();
  expect(sent).toEqual([delivery.data, null]);
});

test("a delivery whose sending rejects frees its slot for the next one", async () => {
  const sent: string[] = [];
  const lane = new Lane({
    subscriptionId: "sub_1",
    kind: "event",
    maxConcurrent: 1,
    maxWaitMs: 1_000,
    send: async ({ id }) => {
      sent.push(id);
      throw new Error("unexpected");
    },
    release: () => {},
  });
  for (const id of ["dlv_1", "dlv_2"]) lane.add({ ...delivery, id }, elapsed());
  await lane.idle();
  await lane.idle();
  expect(sent).toEqual(["dlv_1", "dlv_2"]);
});
