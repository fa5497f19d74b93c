import type { Subscription, WorkspaceEvent } from "@beckon/client";
import { expect, test } from "vitest";
import { concerns } from "./concerns.ts";

const end = { type: "run.finished", run_id: "run_1", agent_id: "agt_1", seq: 5, data: {} };
const called = { ...end, type: "run.tool_call" };
const subscribedTo = (types: readonly string[], agentIds: readonly string[] | null = null) =>
  ({ id: "sub_1", event_types: types, agent_ids: agentIds }) as Subscription;
const isConcerned = (subscription: Subscription, event: object) =>
  concerns(subscription, event as WorkspaceEvent);

test.each([
  [["run.finished"], end, true],
  // The run can have a callback.
  [["run.failed"], end, true],
  // The end can have replaced calls of tools.
  [["run.tool_call"], end, true],
  [["run.tool_call"], called, true],
  [["run.failed"], called, false],
])("a subscription to %j and %j", (types, event, expected) => {
  expect(isConcerned(subscribedTo(types), event)).toBe(expected);
  expect(isConcerned(subscribedTo(types, ["agt_1"]), event)).toBe(expected);
  expect(isConcerned(subscribedTo(types, ["agt_2"]), event)).toBe(false);
});
