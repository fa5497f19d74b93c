import { expect, test } from "vitest";
import { type DeliveredRow, deliveryBody } from "./body.ts";

const row: DeliveredRow = {
  kind: "event",
  workspace_id: "wsp_1",
  subscription_id: "sub_1",
  event_id: "evt_1",
  type: "run.finished",
  version: 1,
  time: new Date("2026-01-31T09:30:00Z"),
  agent_id: "agt_1",
  run_id: "run_1",
  seq: 6,
  data: { output: "Hello" },
};
const options = { format: "standard", payload: "full", publicUrl: "https://b.example" } as const;
const dataOf = (text: string) => JSON.parse(text).data;

test("a body has the event and the URL at which it can be read", () => {
  expect(JSON.parse(deliveryBody(row, options).text)).toEqual({
    type: "run.finished",
    timestamp: "2026-01-31T09:30:00.000Z",
    data: {
      event_id: "evt_1",
      workspace_id: "wsp_1",
      subscription_id: "sub_1",
      agent_id: "agt_1",
      run_id: "run_1",
      seq: 6,
      version: 1,
      url: "https://b.example/api/public/runs/run_1/events/6",
      payload: { output: "Hello" },
    },
  });
});

test("a row that was written while the payload was thin has ids only, also when it is full", () => {
  const { text } = deliveryBody({ ...row, data: null }, options);
  expect(dataOf(text)).not.toHaveProperty("payload");
});

test("a test is marked, and has no URL", () => {
  const { text } = deliveryBody({ ...row, kind: "test" }, options);
  expect(dataOf(text)).toMatchObject({ test: true, url: null });
});
