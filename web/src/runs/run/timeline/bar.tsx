import type { Scale } from "./scale.ts";
import type { TimelineRow } from "./timeline.ts";

/** Stripes for tool calls, so that their bars differ from other bars even without colours. */
const stripes = "repeating-linear-gradient(135deg, currentcolor 0 3px, transparent 3px 6px)";

interface BarProps {
  readonly row: TimelineRow;
  readonly scale: Scale;
  /** Unix time in ms up to which the bar of a row that has not ended is drawn. */
  readonly now: number;
}

/**
 * The bar of a row. Model calls are solid, tool calls are striped, waiting is dotted, lost calls
 * are dashed, and a point in time is a line.
 */
export function Bar({ row, scale, now }: BarProps) {
  const from = scale.position(row.start);
  const width = Math.max(0, scale.position(row.end ?? now) - from);
  const place = { left: `min(${from * 100}%, 100% - 3px)`, width: `${width * 100}%` };
  const { look, background } = lookOf(row);
  return (
    <span
      aria-hidden="true"
      data-keeps-colour
      className={`absolute min-w-0.75 rounded-bar ${look}`}
      style={background === undefined ? place : { ...place, backgroundImage: background }}
    />
  );
}

function lookOf(row: TimelineRow): { look: string; background?: string } {
  const full = "inset-y-0 @md:inset-y-1";
  const colour = (usual: string) =>
    row.isFailed ? "text-flare" : row.end === undefined ? "text-tide" : usual;
  switch (row.kind) {
    case "model":
      return { look: `${full} bg-current ${colour("text-chart-1")}` };
    case "tool":
      return {
        look: `${full} border border-current ${colour("text-chart-3")}`,
        background: stripes,
      };
    case "held":
    case "queued":
    case "resumed":
      return { look: "top-1/2 border-t-2 border-dotted border-ink-3" };
    case "lost":
      return { look: `${full} border border-dashed border-flare bg-flare-soft` };
    case "rejected":
    case "end":
      return { look: `${full} ${row.isFailed ? "bg-flare" : "bg-ink-3"}` };
  }
}
