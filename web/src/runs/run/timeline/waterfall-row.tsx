import { memo } from "react";
import { Bar } from "./bar.tsx";
import { RowIcon } from "./row-icon.tsx";
import { durationOf } from "./row-words.ts";
import type { Scale } from "./scale.ts";
import type { TimelineRow } from "./timeline.ts";

/**
 * Classes for the columns of the timeline: name, bar, duration. In a narrow pane, the name is above
 * the bar.
 */
export const columns =
  "grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 px-3 " +
  "@md:grid-cols-[minmax(8rem,2fr)_minmax(0,3fr)_4.5rem]";

interface WaterfallRowProps {
  readonly id: string;
  readonly row: TimelineRow;
  /** Position among the rows, counted from 1. */
  readonly position: number;
  readonly count: number;
  readonly height: number;
  readonly scale: Scale;
  readonly now: number;
  readonly isSelected: boolean;
  /**
   * Called with the index of the row. It must be the same function in each rendering, because the
   * row is memoized.
   */
  readonly onPress: (index: number) => void;
}

/** A step of the run with its bar. The surrounding tree handles the keyboard. */
export const WaterfallRow = memo(function WaterfallRow(props: WaterfallRowProps) {
  const { id, row, position, count, height, scale, now, isSelected, onPress } = props;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the focus and handles the keys
    <div
      id={id}
      role="treeitem"
      tabIndex={-1}
      aria-level={row.level}
      aria-posinset={position}
      aria-setsize={count}
      aria-selected={isSelected}
      onClick={() => onPress(position - 1)}
      style={{ height }}
      className={`relative cursor-pointer items-center ${columns} ${isSelected ? "bg-pick" : "hover:bg-hover"}`}
    >
      <span
        className={`flex min-w-0 items-center gap-2 pb-1.5 @md:pb-0 ${row.level === 2 ? "pl-5" : ""}`}
      >
        <RowIcon row={row} />
        <span className="truncate" title={row.name} dir="auto">
          {row.name}
        </span>
        {row.note === undefined ? null : (
          <span className={`shrink-0 text-label ${row.isFailed ? "text-flare" : "text-ink-3"}`}>
            {row.note}
          </span>
        )}
      </span>
      <span className="absolute inset-x-3 bottom-1 h-1.5 @md:relative @md:inset-auto @md:h-5">
        <Bar row={row} scale={scale} now={now} />
      </span>
      <span
        className={`pb-1.5 text-right font-mono text-dense @md:pb-0 ${row.isMeasured ? "text-ink-2" : "text-ink-3"}`}
      >
        {row.end === undefined ? <span className="sr-only">in progress </span> : null}
        {durationOf(row, now)}
      </span>
    </div>
  );
});
