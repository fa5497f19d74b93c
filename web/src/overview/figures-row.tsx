import { useWorkspace } from "../data/index.ts";
import { formatCount, formatCounted, formatDuration, formatPercent } from "../format/index.ts";
import { CostFigure, Figure, Problem, useAsOf } from "../ui/index.ts";
import { meanMinutes, rateOf, slowestSeries, successOf } from "./figures.ts";
import type { TodaysCost } from "./queries.ts";
import { TrendFigure } from "./trend-figure.tsx";
import type { useStatistics } from "./use-statistics.ts";

/** Four figures about the runs of the workspace: their rate, success and duration, and the cost. */
export function FiguresRow({
  statistics,
}: {
  readonly statistics: ReturnType<typeof useStatistics>;
}) {
  const { storedTimeZone } = useWorkspace();
  const { recent, today, tally } = statistics;
  const rate = recent.data && rateOf(recent.data, tally);
  const success = recent.data && successOf(recent.data, tally);
  const duration = recent.data?.stats.total.duration_ms;
  const slowest = recent.data ? slowestSeries(recent.data) : [];
  const cost = today.data?.totals;
  const range = recent.data?.minutes === 5 ? "the last 5 minutes" : "the last hour";
  const failures = [recent, today].filter(({ isError }) => isError);
  const [failed] = failures;
  const asOf = useAsOf(failed?.dataUpdatedAt);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <dl className="grid min-w-0 grid-cols-2 rounded-control border border-rule bg-sheet lg:grid-cols-4 [&>div]:border-rule max-lg:[&>div:nth-child(even)]:border-l max-lg:[&>div:nth-child(n+3)]:border-t lg:[&>div+div]:border-l">
        <TrendFigure
          label={`Runs per minute, ${meanMinutes} min mean`}
          isFailed={recent.isError}
          value={rate && perMinute(rate.perMinute)}
          detail={rate && `${formatCounted(rate.total, "run")} in ${range}`}
          seriesLabel={`Runs by minute in ${range}, now ${rate?.series.at(-1) ?? 0}`}
          series={rate?.series ?? []}
          tone="tide"
        />
        <TrendFigure
          label="Success"
          isFailed={recent.isError}
          value={success && (success.share === null ? none : formatPercent(success.share))}
          detail={success && successDetail(success.failed, success.ended)}
          seriesLabel={`Share of success in ${range}`}
          series={success?.series ?? []}
        />
        <TrendFigure
          label="Duration, p50 and p95"
          isFailed={recent.isError}
          value={recent.data && (duration?.p50 == null ? none : formatDuration(duration.p50))}
          detail={
            duration?.p95 == null
              ? // Runs can have ended nevertheless: since the statistics were read, or without a start.
                recent.data && "No durations yet"
              : `p95 ${formatDuration(duration.p95)}`
          }
          seriesLabel={`Highest p95 of five minutes in ${range}`}
          seriesName="p95"
          series={slowest}
        />
        <Figure
          label="Cost today"
          isFailed={today.isError}
          value={
            cost && (
              <CostFigure
                micros={cost.cost_micros}
                isPartial={cost.unknown_cost_entries > 0}
                isEstimated={cost.estimated_entries > 0}
              />
            )
          }
          detail={
            <span className="block truncate">{cost && costDetail(cost, storedTimeZone)}</span>
          }
        />
      </dl>
      {failed === undefined ? null : (
        <Problem
          error={failed.error}
          title={
            failed.dataUpdatedAt === 0
              ? "Some figures could not be loaded."
              : `Some figures are as of ${asOf}.`
          }
          onRetry={() => Promise.all(failures.map(({ refetch }) => refetch()))}
        />
      )}
    </div>
  );
}

const none = <span className="text-ink-3">–</span>;

/** Returns the rate as text. Low rates have a decimal, so that 0.4 is not shown as 0. */
function perMinute(rate: number): string {
  return rate >= 10 || Number.isInteger(rate) ? formatCount(rate) : rate.toFixed(1);
}

function costDetail({ cost_micros, unknown_cost_entries }: TodaysCost, zone: string): string {
  if (unknown_cost_entries === 0) return `Since midnight, ${zone}`;
  return cost_micros === null ? "Prices are unknown" : "Some prices are unknown";
}

function successDetail(failed: number, ended: number): string {
  if (ended === 0) return "No run succeeded or failed";
  return failed === 0
    ? `None of ${formatCount(ended)} failed`
    : `${formatCount(failed)} of ${formatCount(ended)} failed`;
}
