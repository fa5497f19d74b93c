import { metricTexts } from "../metrics.ts";

interface AllowanceProps {
  readonly metric: keyof typeof metricTexts;
  /** null: unlimited. */
  readonly amount: number | null;
}

/** What a plan allows of a metric. */
export function Allowance({ metric, amount }: AllowanceProps) {
  if (amount === null) return <span className="text-ink-3">unlimited</span>;
  return (
    <span className="font-mono text-dense whitespace-nowrap">
      {metricTexts[metric].format(amount)}
    </span>
  );
}
