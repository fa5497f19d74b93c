import { deliveredEvent } from "@beckon/contract";
import { expect, test } from "vitest";
import { eventTypes, usualEvents } from "./events.ts";

test("the events are those of the contract", () => {
  expect([...eventTypes].sort()).toEqual([...deliveredEvent.options].sort());
  expect(eventTypes).toEqual(expect.arrayContaining([...usualEvents]));
});
