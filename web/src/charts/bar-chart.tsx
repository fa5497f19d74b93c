import { max } from "d3-array";
import { stack } from "d3-shape";
import { useId } from "react";
import { Anchor } from "../ui/index.ts";
import { axisMarks } from "./axis-marks.ts";

/** Colours of series, in their order; `rest` is for the sum of all series without a colour. */
export type ChartTone = 1 | 2 | 3 | 4 | 5 | "rest";

/** One column of {@link BarChart}. */
export interface ChartColumn {
  readonly key: string;
  /** Text below the column, shown only where there is space. */
  readonly label: string;
  /** All values of the column in one line, shown under the pointer. */
  readonly title: string;
  /** One value for each tone, from the bottom. */
  readonly values: readonly number[];
  /** True if a part of the value is not known. The column then has a hatched mark above its bar. */
  readonly isIncomplete: boolean;
  /** The page that a click on the column opens; undefined for none. */
  readonly href: string | undefined;
}

interface BarChartProps {
  /**
   * What the chart shows, with its sum and its highest value. Screen readers read nothing else of
   * the chart.
   */
  readonly label: string;
  readonly tones: readonly ChartTone[];
  readonly columns: readonly ChartColumn[];
  /** Converts a value of the axis to text. */
  readonly format: (value: number) => string;
  /** Called with the column below the pointer; undefined when the pointer leaves the chart. */
  readonly onPoint: (column: ChartColumn | undefined) => void;
}

const fills: Readonly<Record<ChartTone, string>> = {
  1: "fill-chart-1",
  2: "fill-chart-2",
  3: "fill-chart-3",
  4: "fill-chart-4",
  5: "fill-chart-5",
  rest: "fill-edge",
};

/** Widths and heights in units of the SVG, which is stretched to its container. */
const columnWidth = 10;
const barWidth = 8;
const chartHeight = 100;
/** Height of the hatched mark above a column with an unknown part, and of the gap below it. */
const hatchHeight = 3;
const hatchGap = 1;
/** Maximum number of labels below the columns. */
const maxLabels = 6;

/**
 * A chart of stacked bars with an axis. The links of its columns cannot be reached with the
 * keyboard: the table beside the chart has the same links.
 */
export function BarChart({ label, tones, columns, format, onPoint }: BarChartProps) {
  const hatch = useId();
  const highest = max(columns, ({ values }) => values.reduce((sum, value) => sum + value, 0)) ?? 0;
  const marks = axisMarks(highest, format);
  const top = marks.at(-1) || 1;
  // If no value is known or all are 0, the axis has no labels.
  const labelled = highest > 0 ? marks : [];
  // A column with an unknown part has a hatched mark above its bar. The highest column must fit
  // into the chart together with this mark.
  const scale = (chartHeight - hatchHeight - hatchGap) / top;
  const width = Math.max(1, columns.length) * columnWidth;
  const layers = stack<ChartColumn, number>()
    .keys(tones.keys())
    .value(({ values }, index) => values[index] ?? 0)([...columns]);
  const step = Math.ceil(columns.length / maxLabels);
  const last = columns.length - 1;
  // The last column always has a label. A label that would be too close to it is left out.
  const isLabelled = (index: number) =>
    index === last || (index % step === 0 && last - index >= step);
  return (
    <div className="grid min-w-0 grid-cols-[auto_minmax(0,1fr)] gap-x-2 gap-y-1 text-label text-ink-3">
      <div aria-hidden="true" className="relative h-48 min-w-12">
        {labelled.map((mark) => (
          <span
            key={mark}
            className="absolute right-0 translate-y-1/2 font-mono whitespace-nowrap"
            style={{ bottom: `${mark * scale}%` }}
          >
            {format(mark)}
          </span>
        ))}
        {/* Makes the axis as wide as its widest label. The visible labels have absolute positions,
            so they take no space. */}
        <span className="invisible font-mono">{labelled.length === 0 ? "" : format(top)}</span>
      </div>
      <div className="relative h-48 min-w-0">
        <svg
          role="img"
          aria-label={label}
          viewBox={`0 0 ${width} ${chartHeight}`}
          preserveAspectRatio="none"
          className="size-full"
          data-keeps-colour
        >
          <defs>
            <pattern id={hatch} width="2" height="2" patternUnits="userSpaceOnUse">
              <path d="M0 2L2 0" className="stroke-edge" strokeWidth="0.5" />
            </pattern>
          </defs>
          {marks.map((mark) => (
            <path
              key={mark}
              d={`M0 ${chartHeight - mark * scale}H${width}`}
              className={mark === 0 ? "stroke-edge" : "stroke-rule"}
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {layers.map((layer) =>
            layer.map(([from, to], index) =>
              to <= from ? null : (
                <rect
                  key={layer[index]?.data.key}
                  x={index * columnWidth + (columnWidth - barWidth) / 2}
                  y={chartHeight - to * scale}
                  width={barWidth}
                  height={(to - from) * scale}
                  className={fills[tones[layer.key] ?? "rest"]}
                />
              ),
            ),
          )}
          {columns.map(({ key, values, isIncomplete }, index) =>
            isIncomplete ? (
              // The mark always has the same height, because the missing amount is unknown. Without
              // the gap below it, the mark would look like a part of the bar.
              <rect
                key={key}
                x={index * columnWidth + (columnWidth - barWidth) / 2}
                y={
                  chartHeight -
                  values.reduce((sum, value) => sum + value, 0) * scale -
                  hatchGap -
                  hatchHeight
                }
                width={barWidth}
                height={hatchHeight}
                fill={`url(#${hatch})`}
              />
            ) : null,
          )}
        </svg>
        <div
          aria-hidden="true"
          className="absolute inset-0 grid auto-cols-fr grid-flow-col"
          onPointerLeave={() => onPoint(undefined)}
        >
          {columns.map((column) => (
            <Target key={column.key} column={column} onPoint={onPoint} />
          ))}
        </div>
      </div>
      <div aria-hidden="true" className="relative col-start-2 h-4">
        {columns.map(({ key, label: text }, index) =>
          isLabelled(index) ? (
            <span
              key={key}
              className="absolute -translate-x-1/2 whitespace-nowrap"
              // Keeps the last label away from the edge of the chart. It can be wider than its
              // column, and would then extend beyond the chart.
              style={{ left: `min(${((index + 0.5) / columns.length) * 100}%, 100% - 1.25rem)` }}
            >
              {text}
            </span>
          ) : null,
        )}
      </div>
    </div>
  );
}

interface TargetProps {
  readonly column: ChartColumn;
  readonly onPoint: (column: ChartColumn) => void;
}

/**
 * The area of a column for the pointer. It has the full height of the chart, because a low bar is
 * hard to hit.
 */
function Target({ column, onPoint }: TargetProps) {
  const look = "min-w-0 hover:bg-ink/8";
  const point = () => onPoint(column);
  if (column.href === undefined)
    return <span title={column.title} className={look} onPointerEnter={point} />;
  return (
    <Anchor
      href={column.href}
      tabIndex={-1}
      title={column.title}
      className={look}
      onPointerEnter={point}
    />
  );
}
