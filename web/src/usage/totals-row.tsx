import type { UsageReport } from "@beckon/client";
import { formatCount, formatCounted, formatShortCount } from "../format/index.ts";
import { CostFigure, Figure } from "../ui/index.ts";
import { type Amounts, unknownReason } from "./measure.ts";

interface TotalsRowProps {
  /** The report; undefined while it loads, or if it could not be loaded. */
  readonly report: UsageReport | undefined;
  readonly isFailed: boolean;
}

/** The sums of the whole range. */
export function TotalsRow({ report, isFailed }: TotalsRowProps) {
  const totals = report?.totals;
  return (
    <dl className="grid min-w-0 grid-cols-2 rounded-control border border-rule bg-sheet sm:grid-cols-3 [&>div+div]:border-rule max-sm:[&>div+div]:border-t sm:[&>div+div]:border-l max-sm:[&>div:nth-child(3)]:border-l max-sm:[&>div:first-child]:col-span-2">
      <Figure
        isFailed={isFailed}
        label="Cost"
        value={
          totals && (
            <CostFigure
              micros={totals.cost_micros}
              isPartial={totals.unknown_cost_entries > 0}
              isEstimated={totals.estimated_entries > 0}
            />
          )
        }
        detail={totals && priceDetail(totals)}
      />
      <Figure
        isFailed={isFailed}
        label="Tokens"
        value={totals && formatShortCount(totals.input_tokens + totals.output_tokens)}
        detail={
          totals &&
          `${formatCount(totals.input_tokens)} in, ${formatCount(totals.output_tokens)} out`
        }
      />
      <Figure
        isFailed={isFailed}
        label="Calls"
        value={totals && formatCount(totals.entries)}
        detail={totals && callsDetail(totals)}
      />
    </dl>
  );
}

function priceDetail(totals: Amounts): string {
  if (totals.entries === 0) return "No calls";
  return unknownReason(totals) ?? "All calls have a known price";
}

function callsDetail({ entries, estimated_entries: estimated }: Amounts): string {
  if (entries === 0) return "None in this period";
  return estimated === 0
    ? "All with reported tokens"
    : `${formatCounted(estimated, "call")} with estimated tokens`;
}
