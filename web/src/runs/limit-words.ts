import type { Run } from "@beckon/client";
import { formatCount, formatDuration, formatPrice } from "../format/index.ts";

type LimitReached = Pick<
  NonNullable<Run["limit"]>,
  "scope" | "scope_id" | "metric" | "used" | "limit"
>;

/** Link to the screen where a limit can be raised. */
interface LimitPlace {
  /** Path of the screen, relative to the path of the workspace. */
  readonly path: string;
  readonly label: string;
  /** The permission that raising the limit needs; undefined to show the link to everybody. */
  readonly needs?: "limits:write";
}

/** Returns the link to the screen where a limit that ended a run of the agent can be raised. */
export function placeOfLimit({ scope, scope_id }: LimitReached, agentId: string): LimitPlace {
  switch (scope) {
    case "run":
      return { path: `/agents/${agentId}/settings`, label: "Raise the limit of a run" };
    case "plan":
      return { path: "/plan", label: "Open the plan" };
    default:
      return {
        path: `/plan?ceiling=${scope}:${scope_id}`,
        label: "Raise the ceiling",
        needs: "limits:write",
      };
  }
}

const formats: Readonly<Record<LimitReached["metric"], (amount: number) => string>> = {
  cost: formatPrice,
  tokens: (amount) => `${formatCount(amount)} tokens`,
  voice: (amount) => `${formatDuration(amount)} of voice`,
  browser: (amount) => `${formatDuration(amount)} of a browser`,
};

const owners: Readonly<Record<LimitReached["scope"], string>> = {
  plan: "The plan of the workspace",
  workspace: "The ceiling of the workspace",
  agent: "The ceiling of the agent",
  key: "The ceiling of the key",
  trigger: "The ceiling of the trigger",
  run: "The limit of a run",
};

/** Returns the limit in words: `The ceiling of the agent: $5.00 of $5.00 used`. */
export function limitWords(limit: LimitReached): string {
  return `${owners[limit.scope]}: ${limitAmount(limit, limit.used)} of ${limitAmount(limit, limit.limit)} used`;
}

/** Returns an amount of a limit in words. */
export function limitAmount({ metric }: LimitReached, amount: number): string {
  return formats[metric](amount);
}
