import { Sparkline } from "../charts/index.ts";
import { Figure, type FigureProps } from "../ui/index.ts";
import { hasLine } from "./figures.ts";

interface TrendFigureProps extends Omit<FigureProps, "children"> {
  /** Accessible name of the line chart: what it shows, with the last value. */
  readonly seriesLabel: string;
  /** A short name beside the line, if it is not clear which of two figures the line shows. */
  readonly seriesName?: string;
  readonly series: readonly (number | null)[];
  readonly tone?: "tide" | "flare" | "ink";
}

/** A number with a small line chart of its recent values. */
export function TrendFigure(props: TrendFigureProps) {
  const { detail, seriesLabel, seriesName, series, tone = "ink", ...figure } = props;
  return (
    <Figure {...figure} detail={<span className="block truncate">{detail}</span>}>
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
    </Figure>
  );
}
