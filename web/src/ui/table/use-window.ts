import { type RefObject, startTransition, useLayoutEffect, useRef, useState } from "react";
import { afterPaint, paintMsPerRow, stepRows } from "./step-rows.ts";

/** Rows of a long list that are rendered: `start` inclusive, `end` exclusive. */
export interface RowWindow {
  readonly start: number;
  readonly end: number;
}

/** Lists with up to this many rows are rendered completely. A full page of the API has 50 rows. */
const maxWhole = 40;
/**
 * Minimum number of rows that are rendered above and below the visible ones. Scrolling moves the
 * window by multiples of this number.
 */
const overscan = 6;
/** Number of rows that are rendered first, before the visible ones are known. */
const firstRows = 14;

/**
 * Returns which rows to render. All rows have the same height, so the position of each follows from
 * the position of the list. This works inside any element that scrolls, and on the page itself.
 *
 * @param list the element whose height is that of all rows
 * @param count number of all rows
 * @param rowHeight height of one row in px
 */
export function useRowWindow(
  list: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): RowWindow {
  const [range, setRange] = useState<RowWindow>({ start: 0, end: firstRows });
  const shown = useRef(range);
  /**
   * True while a window is being rendered. The next window waits, because it would restart the
   * rendering.
   */
  const isPending = useRef(false);
  /** Number of rows that were added since the last frame, so that the next frame paints them. */
  const added = useRef(0);
  /** How long one row takes to paint; `undefined` before the first step was measured. */
  const msPerRow = useRef<number>(undefined);
  /** Updates the window in the next frame. Does nothing while the list is not windowed. */
  const schedule = useRef(() => {});
  const isWindowed = count > maxWhole;
  // True if the number of rows has shrunk so far that the window is behind the last row. The last
  // rows are then rendered until the next frame, because otherwise nothing would be visible.
  const isLost = isWindowed && range.start >= count;

  useLayoutEffect(() => {
    shown.current = range;
    isPending.current = false;
    schedule.current();
  }, [range]);
  useLayoutEffect(() => {
    if (!isWindowed) return;
    let frame: number | undefined;
    const update = (frameTime: number) => {
      frame = undefined;
      if (list.current === null || isPending.current) return;
      const rows = added.current;
      added.current = 0;
      if (rows > 0)
        afterPaint(() => {
          const paintMs = performance.now() - frameTime;
          msPerRow.current = paintMsPerRow(msPerRow.current, rows, paintMs);
        });
      const options = { count, rowHeight, shown: shown.current, rows: stepRows(msPerRow.current) };
      const next = nextWindow(list.current, options);
      if (next.start === shown.current.start && next.end === shown.current.end) return;
      added.current = newRows(next, shown.current);
      isPending.current = true;
      // A transition renders the rows in slices, between which the page handles input.
      startTransition(() => setRange(next));
    };
    schedule.current = () => {
      frame ??= requestAnimationFrame(update);
    };
    const onScroll = () => schedule.current();
    schedule.current();
    // Listens in the capture phase, because scroll events of inner elements do not bubble.
    document.addEventListener("scroll", onScroll, { capture: true, passive: true });
    window.addEventListener("resize", onScroll);
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame);
      schedule.current = () => {};
      document.removeEventListener("scroll", onScroll, { capture: true });
      window.removeEventListener("resize", onScroll);
    };
  }, [list, count, rowHeight, isWindowed]);
  if (!isWindowed) return { start: 0, end: count };
  if (isLost) return { start: Math.max(0, count - firstRows), end: count };
  return { start: range.start, end: Math.min(range.end, count) };
}

interface WindowOptions {
  readonly count: number;
  readonly rowHeight: number;
  readonly shown: RowWindow;
  /** Maximum number of rows to add. */
  readonly rows: number;
}

/**
 * Returns the window of the rows that are visible now. If this window would add too many new rows
 * at once, returns a window between it and the shown one.
 */
function nextWindow(list: HTMLElement, options: WindowOptions): RowWindow {
  const { count, rowHeight, shown, rows } = options;
  const { top } = list.getBoundingClientRect();
  const first = Math.max(0, Math.min(Math.floor(-top / rowHeight), count - 1));
  const step = rowHeight * overscan;
  const before = Math.floor(-top / step) - 1;
  const after = Math.ceil((window.innerHeight - top) / step) + 1;
  const start = Math.max(0, Math.min(before * overscan, first));
  const end = Math.max(first + 1, Math.min(after * overscan, count));
  return stepTo({ start, end }, shown, first, rows);
}

/**
 * Returns the wanted window. If it would add too many new rows at once, returns a window between
 * the shown one and the wanted one.
 * @param first the first visible row. If the shown window has none of the wanted rows, the result
 *   starts at this row.
 * @param maxNewRows at least 1
 */
export function stepTo(
  wanted: RowWindow,
  shown: RowWindow,
  first: number,
  maxNewRows: number,
): RowWindow {
  const start = Math.max(wanted.start, Math.min(shown.start, wanted.end));
  const end = Math.max(start, Math.min(shown.end, wanted.end));
  if (start === end) return { start: first, end: Math.min(wanted.end, first + maxNewRows) };
  const below = Math.min(maxNewRows, wanted.end - end);
  const above = Math.min(maxNewRows - below, start - wanted.start);
  return { start: start - above, end: end + below };
}

/** Returns how many rows of `next` are not in `shown`. */
function newRows(next: RowWindow, shown: RowWindow): number {
  const kept = Math.min(next.end, shown.end) - Math.max(next.start, shown.start);
  return next.end - next.start - Math.max(0, kept);
}
