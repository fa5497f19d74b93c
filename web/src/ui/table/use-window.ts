import { type RefObject, useLayoutEffect, useState } from "react";

/** Rows of a long list that are rendered: `start` inclusive, `end` exclusive. */
export interface RowWindow {
  readonly start: number;
  readonly end: number;
}

/** Lists up to this many rows are rendered whole. */
const maxWhole = 100;
/** Rows above and below the visible ones, and the step by which the window moves. */
const overscan = 12;

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
  const [range, setRange] = useState<RowWindow>({ start: 0, end: maxWhole / 2 });
  const windowed = count > maxWhole;
  useLayoutEffect(() => {
    if (!windowed) return;
    const update = () => {
      if (list.current === null) return;
      const { top } = list.current.getBoundingClientRect();
      const first = Math.floor(-top / rowHeight / overscan) * overscan - overscan;
      const shown = Math.ceil(window.innerHeight / rowHeight / overscan) * overscan;
      const start = Math.max(0, Math.min(first, count - 1));
      const end = Math.min(count, Math.max(first, 0) + shown + 3 * overscan);
      setRange((before) =>
        before.start === start && before.end === end ? before : { start, end },
      );
    };
    update();
    // Captured, because scroll events of inner elements do not bubble.
    document.addEventListener("scroll", update, { capture: true, passive: true });
    window.addEventListener("resize", update);
    return () => {
      document.removeEventListener("scroll", update, { capture: true });
      window.removeEventListener("resize", update);
    };
  }, [list, count, rowHeight, windowed]);
  if (!windowed) return { start: 0, end: count };
  return { start: Math.min(range.start, count), end: Math.min(range.end, count) };
}
