import { linePath } from "./line-path.ts";

interface SparklineProps {
  /** What the line shows, with the last value: "Runs a minute, now 12". Screen readers read it. */
  readonly label: string;
  /** The values in order of time; null is a gap. */
  readonly values: readonly (number | null)[];
  readonly tone?: "tide" | "flare" | "ink";
}

const width = 96;
const height = 24;
const strokes = { tide: "stroke-tide", flare: "stroke-flare", ink: "stroke-ink-3" };

/** A small line chart without axes, shown beside a number. It is as wide as its container. */
export function Sparkline({ label, values, tone = "tide" }: SparklineProps) {
  const path = linePath(values, { width, height: height - 2 });
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      className="h-6 w-full min-w-12"
      fill="none"
    >
      <path
        d={`M0 ${height - 0.5}H${width}`}
        className="stroke-rule"
        vectorEffect="non-scaling-stroke"
      />
      {path === "" ? null : (
        <path
          d={path}
          transform="translate(0 1)"
          className={strokes[tone]}
          strokeWidth="1.5"
          strokeLinejoin="round"
          // Makes a value between two gaps visible as a dot.
          strokeLinecap="round"
          vectorEffect="non-scaling-stroke"
        />
      )}
    </svg>
  );
}
