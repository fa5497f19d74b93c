import type { ReactNode } from "react";
import { Sparkline } from "../charts/index.ts";
import { Skeleton } from "../ui/index.ts";
import { hasLine } from "./figures.ts";

interface FigureProps {
  readonly label: string;
  /** The figure; undefined while it loads, and if it could not be loaded. */
  readonly value: ReactNode;
  /** A line of text below the number. */
  readonly detail: ReactNode;
  /** Accessible name of the line chart: what it shows, with the last value. */
  readonly seriesLabel: string;
  /** A short name beside the line, if it is not clear which of two figures the line shows. */
  readonly seriesName?: string;
  readonly series: readonly (number | null)[];
  readonly tone?: "tide" | "flare" | "ink";
  readonly isFailed: boolean;
}

/** A number with a small line chart of its recent values. */
export function Figure(props: FigureProps) {
  const { label, value, detail, seriesLabel, seriesName, series, tone = "ink", isFailed } = props;
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
        <span className="h-5 truncate text-dense text-ink-2">{detail}</span>
        <span className="flex h-6 min-w-0 items-end gap-2 pt-1">
          {hasLine(series) ? (
            <>
              {seriesName === undefined ? null : (
                <span aria-hidden="true" className="text-label text-ink-3">
                  {seriesName}
                </span>
              )}
              <Sparkline label={seriesLabel} values={series} tone={tone} />
            </>
          ) : null}
        </span>
      </dd>
    </div>
  );
}
