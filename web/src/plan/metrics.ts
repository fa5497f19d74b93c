import type { PlanUsage } from "@beckon/client";
import { formatCount, formatDuration, formatPrice, moneyBeside } from "../format/index.ts";

/**
 * Formats voice or browser time. 0 is written as `0 s` and not as `0 ms`, because the allowances
 * beside it are in seconds or hours.
 */
const formatTime = (ms: number) => (ms === 0 ? "0 s" : formatDuration(ms));

type Metric = PlanUsage["metrics"][number]["metric"];

interface MetricTexts {
  readonly label: string;
  /** Formats a limit. */
  readonly format: (amount: number) => string;
  /** Returns the function that formats the amounts in a line with a limit. */
  readonly beside: typeof moneyBeside;
}

const plain = (label: string, format: (amount: number) => string): MetricTexts => ({
  label,
  format,
  beside: () => format,
});

/** Names of the metrics that a plan limits, and how their amounts are written. */
export const metricTexts: Readonly<Record<Metric, MetricTexts>> = {
  tokens: plain("Tokens", (amount) => formatCount(amount)),
  voice: plain("Voice", formatTime),
  browser: plain("Browser", formatTime),
  cost: { label: "Cost", format: formatPrice, beside: moneyBeside },
};
