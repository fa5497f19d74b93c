import type { UsageReport } from "@beckon/client";
import type { ReactNode } from "react";
import { formatCount, formatCounted, formatMoney, formatShortCount } from "../format/index.ts";
import { Skeleton } from "../ui/index.ts";
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
      <Total
        isFailed={isFailed}
        label="Cost"
        value={totals && <CostFigure totals={totals} />}
        detail={totals && (unknownReason(totals) ?? "All calls have a known price")}
      />
      <Total
        isFailed={isFailed}
        label="Tokens"
        value={totals && formatShortCount(totals.input_tokens + totals.output_tokens)}
        detail={
          totals &&
          `${formatCount(totals.input_tokens)} in, ${formatCount(totals.output_tokens)} out`
        }
      />
      <Total
        isFailed={isFailed}
        label="Calls"
        value={totals && formatCount(totals.entries)}
        detail={
          totals &&
          (totals.estimated_entries === 0
            ? "All with reported tokens"
            : `${formatCounted(totals.estimated_entries, "call")} with estimated tokens`)
        }
      />
    </dl>
  );
}

function CostFigure({ totals }: { readonly totals: Amounts }) {
  const { cost_micros: micros, unknown_cost_entries: unknown } = totals;
  if (micros === null) return <span className="text-ink-3">unknown</span>;
  return (
    <>
      {unknown === 0 ? null : (
        <>
          <span className="sr-only">at least </span>
          <span aria-hidden="true" className="pr-2 text-ink-3">
            ≥
          </span>
        </>
      )}
      <span>{formatMoney(micros)}</span>
    </>
  );
}

interface TotalProps {
  readonly label: string;
  /** The value; undefined while there is no report. */
  readonly value: ReactNode;
  readonly detail: string | undefined;
  readonly isFailed: boolean;
}

function Total({ label, value, detail, isFailed }: TotalProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1 p-4">
      <dt className="text-label text-ink-3">{label}</dt>
      <dd className="flex min-w-0 flex-col gap-1">
        <span className="flex h-8 min-w-0 items-center truncate text-figure">
          {value !== undefined ? (
            value
          ) : isFailed ? (
            <span className="text-ink-3">unknown</span>
          ) : (
            <span className="w-full">
              <Skeleton width={40} />
            </span>
          )}
        </span>
        <span className="min-h-5 text-dense text-ink-2">{detail}</span>
      </dd>
    </div>
  );
}
