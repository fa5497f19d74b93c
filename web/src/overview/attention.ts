import type { Ceiling, ModelList, PlanUsage, Subscription } from "@beckon/client";
import { isUnchecked } from "../format/index.ts";
import type { AgentName } from "../runs/index.ts";
import type { Queue, Recent } from "./queries.ts";

type PlanMetric = PlanUsage["metrics"][number];

/** Something that a person should look at. */
export type AttentionItem =
  | { readonly kind: "provider"; readonly name: string; readonly error: string }
  | {
      readonly kind: "failing";
      readonly agentId: string;
      readonly failed: number;
      readonly ended: number;
      readonly minutes: number;
    }
  | { readonly kind: "queue"; readonly queue: Queue; readonly ageMs: number }
  | { readonly kind: "plan"; readonly metric: PlanMetric }
  | { readonly kind: "limit"; readonly ceiling: Ceiling }
  | { readonly kind: "subscription"; readonly subscription: Subscription }
  | { readonly kind: "paused"; readonly agentId: string; readonly agent: AgentName };

/**
 * An agent needs attention if at least this share of its runs failed. Only runs that succeeded or
 * failed count.
 */
const minFailedShare = 0.1;
/** The queue needs attention if its oldest run is this old, or if it has `minQueue` runs. */
const minAgeMs = 30_000;
const minQueue = 50;
/**
 * A ceiling (daily spending limit) or a limit of the plan needs attention if it is reached, or if
 * at least this share of it is used.
 */
const minUsedShare = 0.8;

/**
 * A subscription that began to fail less than this long ago is left out, because Beckon retries its
 * deliveries before a person could react.
 */
const minFailingMs = 60_000;

/**
 * The state of the workspace. A field is undefined while it loads, and if the person is not allowed
 * to read it.
 */
export interface Condition {
  readonly providers: readonly ModelList[] | undefined;
  readonly byAgent: Recent | undefined;
  readonly queue: Queue | undefined;
  readonly plan: PlanUsage | undefined;
  readonly ceilings: readonly Ceiling[] | undefined;
  readonly subscriptions: readonly Subscription[] | undefined;
  readonly agents: ReadonlyMap<string, AgentName>;
  readonly nowMs: number;
}

/** Returns what needs attention, the most urgent first. */
export function attentionOf(condition: Condition): readonly AttentionItem[] {
  return [
    ...providersOf(condition),
    ...failingOf(condition),
    ...subscriptionsOf(condition),
    ...planOf(condition),
    ...limitsOf(condition),
    ...queueOf(condition),
    ...pausedOf(condition),
  ];
}

function providersOf({ providers = [] }: Condition): AttentionItem[] {
  return providers.flatMap(({ provider, error }) =>
    error === null || isUnchecked(error) ? [] : [{ kind: "provider", name: provider, error }],
  );
}

function failingOf({ byAgent }: Condition): AttentionItem[] {
  if (byAgent === undefined) return [];
  const failing = byAgent.stats.groups.flatMap(({ agent_id, runs }) => {
    const ended = runs.succeeded + runs.failed;
    if (agent_id === null || runs.failed === 0 || runs.failed / ended < minFailedShare) return [];
    const { minutes } = byAgent;
    return [{ kind: "failing" as const, agentId: agent_id, failed: runs.failed, ended, minutes }];
  });
  return failing.toSorted((a, b) => b.failed - a.failed);
}

/** Paused subscriptions are left out, because a person paused them on purpose. */
function subscriptionsOf({ subscriptions = [], nowMs }: Condition): AttentionItem[] {
  return subscriptions.flatMap((subscription) => {
    const { status, health } = subscription;
    const failingMs = nowMs - Date.parse(health.failing_since ?? "");
    return status === "disabled" || (status === "enabled" && failingMs >= minFailingMs)
      ? [{ kind: "subscription", subscription }]
      : [];
  });
}

function planOf({ plan }: Condition): AttentionItem[] {
  return (plan?.metrics ?? []).flatMap((metric) =>
    isNear(metric.used, metric.allowance, metric.reached) ? [{ kind: "plan", metric }] : [],
  );
}

function limitsOf({ ceilings = [], agents }: Condition): AttentionItem[] {
  return ceilings.flatMap((ceiling) => {
    const { scope_id, limit_micros: limit, spent_micros: spent, reached } = ceiling;
    // An agent that is paused by its ceiling is listed as a paused agent instead.
    return isNear(spent, limit, reached) && !agents.get(scope_id)?.isPausedByLimit
      ? [{ kind: "limit", ceiling }]
      : [];
  });
}

/** Limits of 0 are left out: a person sets a limit to 0 to stop all use. */
function isNear(used: number | null, limit: number | null, reached: boolean): boolean {
  if (limit === null || limit === 0) return false;
  return reached || (used ?? 0) >= limit * minUsedShare;
}

function queueOf({ queue, nowMs }: Condition): AttentionItem[] {
  if (queue?.oldest === undefined) return [];
  const ageMs = Math.max(0, nowMs - queue.oldest);
  if (ageMs < minAgeMs && queue.count < minQueue) return [];
  return [{ kind: "queue", queue, ageMs }];
}

function pausedOf({ agents }: Condition): AttentionItem[] {
  return [...agents].flatMap(([agentId, agent]) =>
    agent.paused ? [{ kind: "paused", agentId, agent }] : [],
  );
}
