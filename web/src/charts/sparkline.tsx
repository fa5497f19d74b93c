import { max, min } from "d3-array";
import { line } from "d3-shape";

interface SparklineProps {
  /** What it shows, with the last value: "Runs a minute, now 12". */
  readonly label: string;
  /** In order of time; null is a gap. */
  readonly values: readonly (number | null)[];
  readonly tone?: "tide" | "flare" | "ink";
}

const width = 96;
const height = 24;
const strokes = { tide: "stroke-tide", flare: "stroke-flare", ink: "stroke-ink-3" };

/** A line without axes beside a figure. Fills the width of its container. */
export function Sparkline({ label, values, tone = "tide" }: SparklineProps) {
  const known = values.filter((value) => value !== null);
  const low = Math.min(0, min(known) ?? 0);
  const span = (max(known) ?? 0) - low || 1;
  const path = line<number | null>()
    .defined((value) => value !== null)
    .x((_, index) => (values.length < 2 ? 0 : (index / (values.length - 1)) * width))
    .y((value) => height - 1 - (((value ?? 0) - low) / span) * (height - 2))([...values]);
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
      {path === null ? null : (
        <path
          d={path}
          className={strokes[tone]}
          strokeWidth="1.5"
          strokeLinejoin="round"
          // A value between two gaps is a dot.
          strokeLinecap="round"
          vectorEffect="non-scaling-stroke"
        />
      )}
    </svg>
  );
}
