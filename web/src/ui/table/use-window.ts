import { type RefObject, useLayoutEffect, useState } from "react";

/** Rows of a long list that are rendered: `start` inclusive, `end` exclusive. */
export interface RowWindow {
  readonly start: number;
  readonly end: number;
}

/** Lists up to this many rows are rendered whole: fewer than a page of a list has. */
const maxWhole = 40;
/** Rows above and below the visible ones, and the step by which the window moves. */
const overscan = 8;

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
      const step = rowHeight * overscan;
      const before = Math.floor(-top / step) - 1;
      const after = Math.ceil((window.innerHeight - top) / step) + 1;
      const start = Math.max(0, Math.min(before * overscan, count - 1));
      const end = Math.max(0, Math.min(after * overscan, count));
      setRange((known) => (known.start === start && known.end === end ? known : { start, end }));
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
