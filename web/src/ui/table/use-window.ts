import { type RefObject, startTransition, useLayoutEffect, useRef, useState } from "react";

/** Rows of a long list that are rendered: `start` inclusive, `end` exclusive. */
export interface RowWindow {
  readonly start: number;
  readonly end: number;
}

/** Lists up to this many rows are rendered whole: fewer than a page of a list has. */
const maxWhole = 40;
/** Rows above and below the visible ones, and the step by which the window moves. */
const overscan = 6;
/** Rows of the first frame. */
const firstRows = 14;
/** Rows that a frame adds after a jump on a slow machine. More of them would be a long task. */
const minNewRows = 8;
/** Where rows are rendered and painted in this time, the next frame adds twice as many. */
const fastMs = 30;

/**
 * Returns which rows of equal height to render. Rows are equally high, so their position follows
 * from the list's own: this works below any element that scrolls, also the page.
 *
 * @param list the element that is as high as all rows
 */
export function useRowWindow(
  list: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): RowWindow {
  const [range, setRange] = useState<RowWindow>({ start: 0, end: firstRows });
  const shown = useRef(range);
  /** A window is being rendered. The next one waits: it would start the rendering again. */
  const isPending = useRef(false);
  const step = useRef({ startedAt: 0, rows: minNewRows });
  const schedule = useRef(() => {});
  const isWindowed = count > maxWhole;
  // Rows that no longer exist leave the list empty until the next frame.
  const isLost = isWindowed && range.start >= count;

  useLayoutEffect(() => {
    shown.current = range;
    isPending.current = false;
    schedule.current();
  }, [range]);
  useLayoutEffect(() => {
    if (!isWindowed) return;
    let frame: number | undefined;
    const update = () => {
      frame = undefined;
      if (list.current === null || isPending.current) return;
      const now = performance.now();
      const wasFast = now - step.current.startedAt < fastMs;
      const rows = wasFast ? Math.min(maxWhole, 2 * step.current.rows) : minNewRows;
      const next = nextWindow(list.current, { count, rowHeight, shown: shown.current, rows });
      if (next.start === shown.current.start && next.end === shown.current.end) return;
      step.current = { startedAt: now, rows };
      isPending.current = true;
      // Rows are rendered in slices, between which the page handles input.
      startTransition(() => setRange(next));
    };
    schedule.current = () => {
      frame ??= requestAnimationFrame(update);
    };
    const onScroll = () => schedule.current();
    schedule.current();
    // Captured, because scroll events of inner elements do not bubble.
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
  /** How many rows can be added. */
  readonly rows: number;
}

/** Returns the window for what is in sight now, or one closer to it. */
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
 * Returns the wanted window, or one closer to it if too many rows would be new.
 * @param first the first row in sight. If no wanted row is shown, it comes first.
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
