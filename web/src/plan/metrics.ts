import type { PlanUsage } from "@beckon/client";
import { formatCents, formatCount, formatDuration } from "../format/index.ts";

/**
 * Formats voice or browser time. 0 is written as `0 s` and not as `0 ms`, because the allowances
 * beside it are in seconds or hours.
 */
const formatTime = (ms: number) => (ms === 0 ? "0 s" : formatDuration(ms));

type Metric = PlanUsage["metrics"][number]["metric"];

/** Names of the metrics that a plan limits, and how their amounts are written. */
export const metricTexts: Readonly<
  Record<Metric, { readonly label: string; readonly format: (amount: number) => string }>
> = {
  tokens: { label: "Tokens", format: (amount) => formatCount(amount) },
  voice: { label: "Voice", format: formatTime },
  browser: { label: "Browser", format: formatTime },
  cost: { label: "Cost", format: (amount) => formatCents(amount) },
};
