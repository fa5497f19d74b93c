import { metricTexts } from "../metrics.ts";

interface AllowanceProps {
  readonly metric: keyof typeof metricTexts;
  /** null: unlimited. */
  readonly amount: number | null;
}

/** The amount of a metric that a plan allows. */
export function Allowance({ metric, amount }: AllowanceProps) {
  if (amount === null) return <span className="text-ink-3">unlimited</span>;
  return (
    <span className="font-mono text-dense whitespace-nowrap">
      {metricTexts[metric].format(amount)}
    </span>
  );
}
