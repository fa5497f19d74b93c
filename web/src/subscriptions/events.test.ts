import { deliveredEvent, workspaceWideEvents } from "@beckon/contract";
import { expect, test } from "vitest";
import { eventTypes, usualEvents, workspaceEvents } from "./events.ts";

test("the events are those of the contract", () => {
  expect([...eventTypes].sort()).toEqual([...deliveredEvent.options].sort());
  expect(workspaceEvents).toEqual(workspaceWideEvents);
  expect(eventTypes).toEqual(expect.arrayContaining([...usualEvents]));
});
