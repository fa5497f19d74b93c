import { expect, test } from "vitest";
import { isStillPlanned, type PlanChoice, planChange } from "./plan-change.ts";

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

test("a planned change cannot be cancelled once it or another one has taken effect, or replaced it", () => {
  const plans = (plan: string, next?: string) => ({
    plan,
    next_plan: next === undefined ? null : { plan: next, starts_at: "2026-02-01T00:00:00.000Z" },
  });
  const initial = plans("team", "pro");
  expect(isStillPlanned(initial, plans("team", "pro"))).toBe(true);
  expect(isStillPlanned(initial, plans("pro"))).toBe(false);
  expect(isStillPlanned(initial, plans("free", "pro"))).toBe(false);
  expect(isStillPlanned(initial, plans("team", "free"))).toBe(false);
  expect(isStillPlanned(initial, plans("team"))).toBe(false);
});
