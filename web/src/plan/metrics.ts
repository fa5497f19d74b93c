import type { PlanUsage } from "@beckon/client";
import { formatCount, formatDuration, formatMoney } from "../format/index.ts";

type Metric = PlanUsage["metrics"][number]["metric"];

/** What a plan limits, as the screen names it. */
export const metricTexts: Readonly<
  Record<Metric, { readonly label: string; readonly format: (amount: number) => string }>
> = {
  tokens: { label: "Tokens", format: (amount) => formatCount(amount) },
  voice: { label: "Voice", format: (amount) => formatDuration(amount) },
  browser: { label: "Browser", format: (amount) => formatDuration(amount) },
  cost: { label: "Cost", format: (amount) => formatMoney(amount) },
};
