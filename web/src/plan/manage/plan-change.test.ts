import { expect, test } from "vitest";
import { type PlanChoice, planChange } from "./plan-change.ts";

const initial = { plan: "team", anchor_day: 1 };
const change = (choice: Partial<PlanChoice>) =>
  planChange(initial, {
    plan: "team",
    takesEffect: "now",
    anchorDay: 1,
    isCancelled: false,
    ...choice,
  });

test("another plan is sent with the time at which it takes effect", () => {
  expect(change({ plan: "pro" })).toEqual({ plan: "pro", takes_effect: "now" });
  expect(change({ plan: "pro", takesEffect: "period_end" })).toEqual({
    plan: "pro",
    takes_effect: "period_end",
  });
});

test("the same plan is no change, whenever it would take effect", () => {
  expect(change({})).toEqual({});
  expect(change({ takesEffect: "period_end" })).toEqual({});
});

test("a planned change is kept with another first day, and cancelled by the same plan now", () => {
  expect(change({ anchorDay: 15 })).toEqual({ anchor_day: 15 });
  expect(change({ isCancelled: true, takesEffect: "period_end" })).toEqual({
    plan: "team",
    takes_effect: "now",
  });
});
