import type { LimitMetric, LimitReached, RunError } from "@beckon/contract";
import type { Limit } from "./budget.ts";

/**
 * Converts a limit that a run has reached to the form of the API.
 * @param needed the amount that the rejected model call needs at least. Default: no call was
 *   rejected.
 */
export function toLimitReached(limit: Limit, needed = 0): LimitReached {
  const { scope, scopeId, metric, spent, allowed, resetsAt } = limit;
  return {
    scope,
    scope_id: scopeId,
    metric,
    used: spent,
    limit: allowed ?? 0,
    ...(needed > (allowed ?? 0) ? { needed } : {}),
    resets_at: resetsAt,
  };
}

/**
 * Returns the error of a run that has reached a limit.
 * @param large what the rejected model call needs at least, and what is left of the limit, if that
 *   is enough for a call with less input. Default: it is not, or no call was rejected.
 */
export function limitError(
  limit: LimitReached,
  large?: { readonly needed: number; readonly left: number },
): RunError {
  const { scope, scope_id, metric, used, needed } = limit;
  if (needed !== undefined) return tooLargeError(limit, needed);
  if (large !== undefined) return tooLargeError(limit, large.needed, large.left);
  const [few, are] = metric === "tokens" ? ["few", "are"] : ["little", "is"];
  const state =
    `${amountText(metric, used)} of ${amountText(metric, limit.limit)} ${are} used` +
    (used < limit.limit ? ", and the rest is not enough for another model call" : "");
  const later = laterText(limit);
  switch (scope) {
    case "plan":
      return {
        code: "plan_exhausted",
        message: `The workspace's plan has too ${few} ${metricName(metric)} left: ${state}. Change the plan${later}.`,
      };
    case "run":
      return {
        code: "ceiling_reached",
        message: `The run has reached its maximum cost: ${state}. Raise the agent's limits.max_cost_micros.`,
      };
    default:
      return {
        code: "ceiling_reached",
        message: `The daily ceiling of this ${scope} is reached: ${state}. Raise it with PUT /api/public/limits/${scope}/${scope_id}${later}.`,
      };
  }
}

/**
 * Returns the error of a run whose next model call needs more than the limit or its rest.
 * @param left the rest of the limit. Default: the call needs more than the whole limit.
 */
function tooLargeError(reached: LimitReached, needed: number, left?: number): RunError {
  const { scope, scope_id, metric, limit } = reached;
  const use = `This model call can ${metric === "cost" ? "cost" : "use"} up to ${amountText(metric, needed)}`;
  const allowed = amountText(metric, limit);
  const leftOf = left === undefined ? "" : `${amountText(metric, left)} that are left of the `;
  const instead =
    (limit === 0 ? "" : ", or send less") + (left === undefined ? "" : laterText(reached));
  switch (scope) {
    case "plan":
      return {
        code: "plan_exhausted",
        message: `${use}, more than the ${leftOf}${allowed} that the workspace's plan allows per month. Change the plan${instead}.`,
      };
    case "run":
      return {
        code: "ceiling_reached",
        message: `${use}, more than the ${leftOf}maximum cost of a run, ${allowed}. Raise the agent's limits.max_cost_micros${instead}.`,
      };
    default:
      return {
        code: "ceiling_reached",
        message: `${use}, more than the ${leftOf || "whole "}daily ceiling of this ${scope}, ${allowed}. Raise it with PUT /api/public/limits/${scope}/${scope_id}${instead}.`,
      };
  }
}

function laterText({ resets_at }: LimitReached): string {
  return resets_at === null ? "" : `, or try again after ${resets_at}`;
}

/**
 * Returns the error of a run whose time ended while it waited for a limit.
 * @param waitedMs how long it had waited, in milliseconds.
 */
export function waitedTooLong({ scope }: LimitReached, waitedMs: number): RunError {
  const name = scope === "plan" ? "the workspace's plan" : `the daily ceiling of this ${scope}`;
  return {
    code: "deadline_exceeded",
    message: `The run did not finish within its time limit: it waited ${Math.round(waitedMs / 1_000)} s because other runs had reserved the rest of ${name}. Raise that limit or the agent's limits.timeout_seconds, or start fewer runs at the same time.`,
  };
}

/** Returns the error of a run whose model has no price although a limit in money applies. */
export function priceUnknown(modelName: string): RunError {
  return {
    code: "price_unknown",
    message: `A limit in money applies to this run, and the price of the model ${modelName} is not known. Set its price at /prices, or in BECKON_PRICES if its provider is the operator's, or mark its provider as free.`,
  };
}

/**
 * Returns the seconds until a limit resets, at least 1; undefined if it does not reset, or if the
 * rejected model call does not fit into the limit after that either.
 */
export function secondsToReset(
  { resets_at, needed }: LimitReached,
  now = Date.now(),
): number | undefined {
  return resets_at === null || needed !== undefined
    ? undefined
    : Math.max(1, Math.ceil((Date.parse(resets_at) - now) / 1_000));
}

function metricName(metric: LimitMetric): string {
  return { cost: "money", tokens: "tokens", voice: "voice time", browser: "browser time" }[metric];
}

const integers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const dollars = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});

function amountText(metric: LimitMetric, amount: number): string {
  switch (metric) {
    case "cost":
      return dollars.format(amount / 1_000_000);
    case "tokens":
      return `${integers.format(amount)} tokens`;
    case "voice":
    case "browser":
      return `${integers.format(Math.ceil(amount / 1_000))} s`;
  }
}
