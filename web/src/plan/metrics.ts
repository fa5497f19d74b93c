import type { PlanUsage } from "@beckon/client";
import { formatCount, formatDuration, formatMoney } from "../format/index.ts";

/** Allowances are in seconds and hours, so 0 is `0 s`. */
const formatTime = (ms: number) => (ms === 0 ? "0 s" : formatDuration(ms));

type Metric = PlanUsage["metrics"][number]["metric"];

/** What a plan limits, as the screen names it. */
export const metricTexts: Readonly<
  Record<Metric, { readonly label: string; readonly format: (amount: number) => string }>
> = {
  tokens: { label: "Tokens", format: (amount) => formatCount(amount) },
  voice: { label: "Voice", format: formatTime },
  browser: { label: "Browser", format: formatTime },
  cost: { label: "Cost", format: (amount) => formatMoney(amount) },
};
