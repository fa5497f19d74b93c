import { expect, test } from "vitest";
import type { ClaimedDelivery } from "./claim-statement.ts";
import { Lane } from "./lane.ts";

const url = "https://example.com/events";
const delivery: Omit<ClaimedDelivery, "kind" | "is_failing"> = {
  id: "dlv_1",
  workspace_id: "wsp_1",
  subscription_id: "sub_1",
  event_id: "evt_1",
  type: "run.finished",
  version: 1,
  time: new Date(0),
  agent_id: "agt_1",
  run_id: "run_1",
  seq: 2,
  data: "{}",
  data_bytes: 2,
  attempts: 1,
  lease: "2026-01-01 00:00:00+00",
  url,
  callback_url: null,
  payload: "full",
  format: "standard",
  secret: "",
  previous_secret: null,
  headers: null,
  subscription_version: 1,
};

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
    lane.add({ ...delivery, kind, is_failing });
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
    lane.add({ ...delivery, id, kind: "event", is_failing: false });
  await lane.idle();
  expect({ sent, isFailing: lane.isFailing }).toEqual({
    sent: ["dlv_1", "dlv_2"],
    isFailing: false,
  });
});
