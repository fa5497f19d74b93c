import type { LimitReached } from "@beckon/contract";
import { expect, test } from "vitest";
import { limitError } from "./limit-error.ts";

const plan: LimitReached = {
  scope: "plan",
  scope_id: "wsp_1",
  metric: "tokens",
  used: 50_000_000,
  limit: 50_000_000,
  resets_at: "2026-02-01T00:00:00.000Z",
};
const ceiling: LimitReached = {
  ...plan,
  scope: "agent",
  scope_id: "agt_1",
  metric: "cost",
  used: 4_800_000,
  limit: 5_000_000,
};

test.each([
  [
    "tokens",
    "The workspace's plan has too few tokens left: 50,000,000 tokens of 50,000,000 tokens are used. Change the plan, or try again after 2026-02-01T00:00:00.000Z.",
  ],
  [
    "cost",
    "The workspace's plan has too little money left: $50.00 of $50.00 is used. Change the plan, or try again after 2026-02-01T00:00:00.000Z.",
  ],
  [
    "voice",
    "The workspace's plan has too little voice time left: 50,000 s of 50,000 s is used. Change the plan, or try again after 2026-02-01T00:00:00.000Z.",
  ],
] as const)("the error of a plan whose allowance of %s is used up", (metric, message) => {
  expect(limitError({ ...plan, metric })).toEqual({ code: "plan_exhausted", message });
});

const large = { needed: 300_000, left: 200_000 };

test.each([
  [
    ceiling,
    "This model call can cost up to $0.30, more than the $0.20 that are left of the daily ceiling of this agent, $5.00. Raise it with PUT /api/public/limits/agent/agt_1, or send less, or try again after 2026-02-01T00:00:00.000Z.",
  ],
  [
    { ...ceiling, scope: "run", resets_at: null },
    "This model call can cost up to $0.30, more than the $0.20 that are left of the maximum cost of a run, $5.00. Raise the agent's limits.max_cost_micros, or send less.",
  ],
  [
    plan,
    "This model call can use up to 300,000 tokens, more than the 200,000 tokens that are left of the 50,000,000 tokens that the workspace's plan allows per month. Change the plan, or send less, or try again after 2026-02-01T00:00:00.000Z.",
  ],
] as const)(
  "the error of a call that is too large for what is left of a limit of a $scope says how much that is",
  (limit, message) => {
    expect(limitError(limit, large).message).toBe(message);
  },
);

test("the error of a call that needs more than a whole limit does not suggest to wait for its reset", () => {
  expect(limitError({ ...ceiling, needed: 6_000_000 }, large).message).toBe(
    "This model call can cost up to $6.00, more than the whole daily ceiling of this agent, $5.00. Raise it with PUT /api/public/limits/agent/agt_1, or send less.",
  );
});
